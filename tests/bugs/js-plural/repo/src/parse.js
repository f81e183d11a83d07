/**
 * "You have {n, plural, =0 {no letters} one {# letter} other {# letters}}."
 * becomes a list of texts, { name } and { name, forms }.
 */
export class MessageError extends Error {}

export function parse(source) {
  const scan = { source, at: 0 };
  const parts = readParts(scan, false);
  if (scan.at < source.length) fail(scan, 'a bracket too many');
  return parts;
}

function fail(scan, what) {
  throw new MessageError(`${what} at ${scan.at} of "${scan.source}"`);
}

function readParts(scan, counting) {
  const parts = [];
  let text = '';
  const flush = () => {
    if (text) parts.push(text);
    text = '';
  };
  while (scan.at < scan.source.length && scan.source[scan.at] !== '}') {
    const ch = scan.source[scan.at];
    if (ch === "'" && "{}#'".includes(scan.source[scan.at + 1] || ' ')) {
      text += scan.source[scan.at + 1];
      scan.at += 2;
    } else if (ch === '{') {
      flush();
      parts.push(readField(scan, counting));
    } else if (ch === '#' && counting) {
      flush();
      parts.push({ count: true });
      scan.at += 1;
    } else {
      text += ch;
      scan.at += 1;
    }
  }
  flush();
  return parts;
}

function word(scan, pattern) {
  pattern.lastIndex = scan.at;
  const found = pattern.exec(scan.source);
  if (!found) fail(scan, 'a name is missing');
  scan.at = pattern.lastIndex;
  return found[1];
}

function readField(scan, counting) {
  scan.at += 1;
  const name = word(scan, /\s*(\w+)\s*/y);
  if (scan.source[scan.at] === '}') {
    scan.at += 1;
    return { name };
  }
  const kind = word(scan, /,\s*(\w+)\s*,\s*/y);
  if (kind !== 'plural' && kind !== 'select') fail(scan, `no such kind ${kind}`);
  const forms = {};
  while (scan.source[scan.at] !== '}') {
    const form = word(scan, /(=?\w+)\s*\{/y);
    forms[form] = readParts(scan, counting || kind === 'plural');
    if (scan.source[scan.at] !== '}') fail(scan, 'a form is not closed');
    word(scan, /(\})\s*/y);
  }
  if (!forms.other) fail(scan, 'the form "other" is missing');
  scan.at += 1;
  return { name, kind, forms };
}
