import { isUtf8 } from 'node:buffer';
import { hasDuplicateKeys } from './duplicate-keys.ts';
import { type Json, parseJson } from './json.ts';
import { Problem } from './problems.ts';

/** For schemas, and for bodies whose length is bounded elsewhere. */
const defaultMaxValues = 200_000;

/** Parses a JSON body strictly: UTF-8 only, no duplicate members, which parsers would read differently. */
export function parseStrictJson(
  bytes: Buffer,
  maxValues = defaultMaxValues,
): { readonly value: Json } | { readonly fault: string } {
  if (!isUtf8(bytes)) return { fault: 'it is not UTF-8' };
  const text = bytes.toString();
  try {
    const value = parseJson(text, maxValues);
    return hasDuplicateKeys(text) ? { fault: 'an object has two members of one name' } : { value };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { fault: error.message.replace('Request body malformed: ', '').replace('Request body', 'the body') };
  }
}
