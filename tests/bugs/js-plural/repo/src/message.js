import { parse } from './parse.js';
import { plural } from './plural.js';

/** Messages of one language. */
export class Messages {
  constructor(language, texts) {
    this.language = language;
    this.texts = texts;
    this.parsed = new Map();
  }

  say(key, values = {}) {
    if (!(key in this.texts)) return key;
    if (!this.parsed.has(key)) this.parsed.set(key, parse(this.texts[key]));
    return this.render(this.parsed.get(key), values, null);
  }

  render(parts, values, count) {
    return parts.map((part) => {
      if (typeof part === 'string') return part;
      if (part.count) return String(count);
      const value = values[part.name];
      if (!part.kind) return value === undefined ? `{${part.name}}` : `${value}`;
      const forms = part.forms;
      const form = forms[this.form(part, value)] || forms.other;
      return this.render(form, values, part.kind === 'plural' ? value : count);
    }).join('');
  }

  form({ kind, forms }, value) {
    if (kind === 'select') return value;
    return `=${value}` in forms ? `=${value}` : plural(this.language, value);
  }
}
