/* SPDX-License-Identifier: MIT */
/** @file The modeled machines that plans and values are tried on. */
#ifndef UPMU_TESTS_MODEL_MACHINES_H
#define UPMU_TESTS_MODEL_MACHINES_H

#include "models/model.h"

extern const struct model_machine model_machines[];
extern const size_t model_n_machines;

#endif
