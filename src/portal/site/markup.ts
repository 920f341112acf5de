import { escapeMarkup } from '#base/escape-markup.ts';

/** HTML that is safe to send: what the `html` tag built, or `trustMarkup` took from a sanitizer. */
export class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

export type MarkupValue = Markup | string | number | false | null | undefined | readonly MarkupValue[];

function toText(value: MarkupValue): string {
  if (value === false || value === null || value === undefined) return '';
  if (value instanceof Markup) return value.toString();
  if (typeof value === 'object') return value.map(toText).join('');
  return escapeMarkup(String(value));
}

/** Template tag of pages: every value is escaped, unless it is markup already. Attribute values have to be quoted. */
export function html(parts: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  let text = parts[0]!;
  for (const [place, value] of values.entries()) text += toText(value) + parts[place + 1]!;
  return new Markup(text);
}

/** For the output of the sanitizer, and constants of this module. */
export const trustMarkup = (text: string): Markup => new Markup(text);
