/* SPDX-License-Identifier: MIT */
/* Control statements around a scope; included twice by scope.c, with FLOW(name) naming each function and SCOPE, SCOPE_NAMED
 * declaring a region or nothing. */

static int FLOW(break_)(int n)
{
    int i;
    for (i = 0; i < 10; i++) {
        SCOPE("break");
        if (i == n)
            break;
    }
    return i;
}

static int FLOW(continue_)(int n)
{
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        SCOPE("continue");
        if (i % (n + 1) == 0)
            continue;
        sum += i;
    }
    return sum;
}

static int FLOW(nested_loops)(int n)
{
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        SCOPE("outer");
        for (int j = 0; j < 5; j++) {
            SCOPE("inner");
            SCOPE("second of the block");
            if (j == n)
                break;
            if (i == j)
                continue;
            sum += 10 * i + j;
        }
        if (i == n)
            break;
        sum += 100;
    }
    return sum;
}

static int FLOW(while_)(int n)
{
    int i = 0;
    while (i < 10) {
        SCOPE("while");
        if (i++ < n)
            continue;
        if (i > 7)
            break;
    }
    do {
        SCOPE("do");
        if (i % 2)
            continue;
        i++;
    } while (++i < 20);
    return i;
}

static int FLOW(return_)(int n)
{
    SCOPE("function");
    for (int i = 0;; i++) {
        SCOPE("return");
        if (i == n) {
            SCOPE("innermost");
            return i * 2;
        }
    }
}

static int FLOW(goto_)(int n)
{
    int i, sum = 0;
    for (i = 0; i < 10; i++) {
        SCOPE("goto");
        for (int j = 0; j < 10; j++) {
            SCOPE("goto inner");
            if (i * j > n)
                goto out;
            sum += j;
        }
    }
out:
    return sum * 100 + i;
}

static int FLOW(goto_back)(int n)
{
    int rounds = 0;
again : {
    SCOPE("again");
    if (++rounds < n)
        goto again;
}
    return rounds;
}

static int FLOW(switch_)(int n)
{
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        switch ((i + n) % 4) {
        case 0: {
            SCOPE("case 0");
            sum += 1;
            break;
        }
        case 1: {
            SCOPE("case 1");
            sum += 10;
        } /* falls through */
        case 2:
            sum += 100;
            break;
        default: {
            SCOPE("default");
            sum += 1000;
            continue;
        }
        }
        sum += 10000;
    }
    return sum;
}

static int FLOW(else_)(int n)
{
    if (n % 2) {
        SCOPE("if");
        n += 3;
    } else if (n > 4) {
        SCOPE("else");
        return -n;
    }
    return n;
}

static int FLOW(recursive)(int n)
{
    SCOPE("recursive");
    return n <= 0 ? 1 : FLOW(recursive)(n - 1) + FLOW(recursive)(n - 2);
}

static int FLOW(named)(int n)
{
    static const char *const names[] = {"named 0", "named 1", "named 2"};
    int used = 0;
    for (int i = 0; i < 10; i++) {
        SCOPE_NAMED(names[used++ % 3]);
        if (i < n)
            continue;
        break;
    }
    return used;
}

#ifdef __cplusplus
static int FLOW(throws)(int n)
{
    SCOPE("throws");
    if (n <= 0)
        throw 7;
    return FLOW(throws)(n - 1);
}

static int FLOW(exception)(int n)
{
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        SCOPE("try");
        try {
            SCOPE("tried");
            sum += FLOW(throws)(n);
        } catch (int value) {
            SCOPE("catch");
            sum += value;
            continue;
        }
        sum += 100;
    }
    return sum;
}

static int FLOW(lambda)(int n)
{
    auto twice = [](int i) {
        SCOPE("lambda");
        return i > 3 ? i : 2 * i;
    };
    return twice(n);
}
#endif
