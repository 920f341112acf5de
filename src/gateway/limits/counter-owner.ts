import { createHash } from 'node:crypto';
import { patternOwner } from '#access/keys/counters.ts';
import type { Session } from '#access/keys/session.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { formatValue } from '../variables/format-value.ts';

/** A longer text names its counter by its hash. */
const maxPatternOwnerChars = 128;

/** The owner of the counters of a request: its key, or the text its counter pattern expands to. */
export function resolveCounterOwner(call: Exchange, session: Session): string {
  const text = session.counterPattern === undefined ? '' : expandPattern(session.counterPattern, call, session);
  return text === '' ? call.counterOwner : patternOwner(session.orgId, hashWhenLong(text));
}

const hashWhenLong = (text: string) =>
  text.length <= maxPatternOwnerChars ? text : createHash('sha256').update(text).digest('base64url');

const variablePattern = /\$gw_(context|meta)\.([\w.-]+)/g;

/** Replaces variables by their values; an unknown one is empty. */
const expandPattern = (pattern: string, call: Exchange, session: Session): string =>
  pattern.replaceAll(variablePattern, (_whole, from: string, name: string) =>
    formatValue((from === 'meta' ? session.metaData : call.context)?.[name]),
  );
