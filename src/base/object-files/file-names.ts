import { createHash } from 'node:crypto';
import { referencePrefix } from './environment-references.ts';

/** Longest readable part of a file name; file systems bound a name to 255 bytes. */
const maxNameCharacters = 120;
const digestCharacters = 8;

/** Names that Windows reserves for devices. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/**
 * File name of an object: its id where that is safe. Other characters are percent-encoded, and a digest of the id is
 * added where two ids could get one name: long ones, and capital letters on file systems without case.
 */
export function toFileName(id: string): string {
  const safe = id.toLowerCase().replaceAll(/[^a-z0-9._@+-]|^\./g, encodeCharacter);
  const isExact = safe === id && safe.length <= maxNameCharacters && !deviceName.test(safe);
  return isExact ? safe : `${safe.slice(0, maxNameCharacters)}~${digestOf(id)}`;
}

const encodeCharacter = (char: string) =>
  [...Buffer.from(char)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('');

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, digestCharacters);

/** Environment variable of a secret: readable, and different for every secret. */
export function toVariableName(kind: string, id: string, path: readonly (string | number)[]): string {
  const parts = [kind, id, ...path.slice(-2)].map(part =>
    String(part)
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_')
      .slice(0, maxVariablePartCharacters),
  );
  return `${referencePrefix}${parts.join('_')}_${digestOf(JSON.stringify([kind, id, path])).toUpperCase()}`;
}

const maxVariablePartCharacters = 40;
