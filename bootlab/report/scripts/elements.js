// Makes elements of a page: with text, which nothing takes for markup, and buttons with what they do.
"use strict";

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function button(text, pressed, kind) {
  const made = element("button", text, kind);
  made.type = "button";
  made.addEventListener("click", pressed);
  return made;
}
