// SPDX-License-Identifier: MIT
// Language of the page, and its texts in it: the catalogue data/texts, put here by embed.cmake.

const CHINESE = new Map([@CHINESE@]),
  UNTRANSLATED = new Set(); // for tests

// "en" or "zh": of an address ("#timeline?lang=zh", "#lang=zh"), else that of the browser.
function languageOf(hash) {
  const [, named] = hash.match(/[#?&]lang=(\w+)/) || [],
    wanted = named || navigator.language || "";
  return wanted.toLowerCase().startsWith("zh") ? "zh" : "en";
}

const LANGUAGE = languageOf(location.hash),
  LANGUAGE_CHOSEN = /[#?&]lang=/.test(location.hash);

// A text of the catalogue in the language of the page, with its %1, %2, ... replaced. Names of a program are never given here.
function tr(english, ...values) {
  let text = english;
  if (LANGUAGE === "zh") {
    if (!CHINESE.has(english)) UNTRANSLATED.add(english);
    text = CHINESE.get(english) ?? english;
  }
  return text.replace(/%(\d)/g, (_, n) => values[n - 1]);
}

// Shows the page in the other language, at the same place: all is made again.
function speak(language) {
  const there = location.hash.replace(/[?&]lang=\w+/, (word) => (word[0] === "?" ? "?" : "")).replace(/\?&?$/, "").replace("?&", "?");
  history.replaceState(null, "", `${there || "#"}${there.includes("?") ? "&" : "?"}lang=${language}`);
  location.reload();
}

// The texts that are in the document from the start.
function translatePage() {
  document.documentElement.lang = LANGUAGE === "zh" ? "zh-CN" : "en";
  byId("language").textContent = LANGUAGE === "zh" ? "English" : "中文";
  byId("language").lang = LANGUAGE === "zh" ? "en" : "zh-CN";
  for (const e of document.querySelectorAll("[data-text]")) e.textContent = tr(e.textContent.trim());
  for (const e of document.querySelectorAll("[data-hint]")) {
    for (const name of e.dataset.hint.split(" ")) e.setAttribute(name, tr(e.getAttribute(name)));
  }
}
