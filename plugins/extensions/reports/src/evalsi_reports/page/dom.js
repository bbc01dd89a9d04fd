// Owns the making of elements. Texts go in as text, never as markup.
const $ = (id) => document.getElementById(id);
const make = (tag, kind, text) => {
  const found = document.createElement(tag);
  if (kind) found.className = kind;
  if (text !== undefined) found.textContent = text;
  return found;
};
const put = (parent, ...children) => { for (const child of children) if (child) parent.append(child); return parent; };
const group = new Intl.NumberFormat('en-US');
// As figures.py writes numbers.
const figure = (value) => {
  const size = Math.abs(value);
  if ((size > 0 && size < 0.001) || size >= 1e12) return value.toPrecision(3);
  if (size >= 1000) return group.format(Math.round(value));
  return value.toFixed(size >= 100 ? 1 : 3);
};
const counted = (count, noun) => `${group.format(count)} ${noun}${count === 1 ? '' : 's'}`;
