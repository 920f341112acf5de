import type { JsonObject } from '#base/json-tree.ts';

/** Result of a conversion: a document, and what it could not express. */
export interface Converted {
  /** `openapi` is a plain OpenAPI document; `streams` is a document of a streams API. */
  readonly kind: 'openapi' | 'streams';
  readonly document: JsonObject;
  readonly warnings: readonly string[];
}

/** Warnings of one conversion: each once, bounded. */
export interface Warnings {
  add(text: string): void;
  list(): string[];
}

const maxWarnings = 200;
const maxWarningLength = 300;

export function createWarnings(): Warnings {
  const texts = new Set<string>();
  let dropped = 0;
  return {
    add(text) {
      const short = text.length > maxWarningLength ? `${text.slice(0, maxWarningLength - 1)}…` : text;
      if (texts.has(short)) return;
      if (texts.size < maxWarnings) texts.add(short);
      else dropped += 1;
    },
    list: () => [...texts, ...(dropped > 0 ? [`and ${dropped} more`] : [])],
  };
}
