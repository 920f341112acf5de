import { createHash } from 'node:crypto';
import { patternOwner } from '#access/keys/counters.ts';
import type { Session } from '#access/keys/session.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { shown } from '../variables/format-value.ts';

/** Texts longer than this name a counter by their hash. */
const longestText = 128;

/** Whose counters a call is counted in: those of its key, or those that its pattern names. */
export function ownerOf(call: Exchange, session: Session): string {
  const text = session.counterPattern === undefined ? '' : resolved(session.counterPattern, call, session);
  return text === '' ? call.counterOwner : patternOwner(session.orgId, bounded(text));
}

const bounded = (text: string) =>
  text.length <= longestText ? text : createHash('sha256').update(text).digest('base64url');

const variable = /\$gw_(context|meta)\.([\w.-]+)/g;

/** The pattern with its variables filled in. What is unknown is empty. */
const resolved = (pattern: string, call: Exchange, session: Session): string =>
  pattern.replaceAll(variable, (_whole, from: string, name: string) =>
    shown((from === 'meta' ? session.metaData : call.context)?.[name]),
  );
