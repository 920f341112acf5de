import { callServer } from '../../kit/calls.ts';
import { isPossibleKey } from '../keys/possible-key.ts';

/** Of the search. */
const maxKeyChars = 200;
const isHash = (text: string) => /^(?:[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{64})$/i.test(text);

/** Key filter of a typed text, for the address: a whole key becomes its hash. Undefined where no key has the text. */
export async function toKeyFilter(text: string): Promise<string | undefined> {
  if (!isPossibleKey(text)) return text;
  if (text.length > maxKeyChars) return undefined;
  const { value } = await callServer('POST /api/search', { body: { q: text, kinds: ['keys'] } });
  const found = value.results.flatMap(({ items }) => items);
  const isNamed = found.some(({ id, name }) => `${id}\n${name}`.toLowerCase().includes(text.toLowerCase()));
  // Requests of a removed key have its hash, and users without the permission for keys filter by it.
  if (isNamed || (found.length === 0 && isHash(text))) return text;
  return found[0]?.id;
}
