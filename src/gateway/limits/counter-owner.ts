import { createHash } from 'node:crypto';
import { patternOwner } from '#access/keys/counters.ts';
import type { Session } from '#access/keys/session.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { formatValue } from '../variables/format-value.ts';

/** Texts longer than this name a counter by their hash. */
const maxPatternOwnerChars = 128;

/** Whose counters a call is counted in: those of its key, or those that its pattern names. */
export function resolveCounterOwner(call: Exchange, session: Session): string {
  const text = session.counterPattern === undefined ? '' : expandPattern(session.counterPattern, call, session);
  return text === '' ? call.counterOwner : patternOwner(session.orgId, hashWhenLong(text));
}

const hashWhenLong = (text: string) =>
  text.length <= maxPatternOwnerChars ? text : createHash('sha256').update(text).digest('base64url');

const variablePattern = /\$gw_(context|meta)\.([\w.-]+)/g;

/** The pattern with its variables filled in. What is unknown is empty. */
const expandPattern = (pattern: string, call: Exchange, session: Session): string =>
  pattern.replaceAll(variablePattern, (_whole, from: string, name: string) =>
    formatValue((from === 'meta' ? session.metaData : call.context)?.[name]),
  );
