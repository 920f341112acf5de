import { createHash } from 'node:crypto';
import { keyOwner, patternOwner } from '#access/keys/counters.ts';
import type { Session } from '#access/keys/session.ts';
import { Lru } from '#base/lru.ts';
import type { Exchange } from '../exchange.ts';
import type { GatewayTools } from '../tools.ts';
import { shown } from '../variables/shown.ts';

/** Keys whose counters a thread can name without hashing anew. */
const ownersKept = 10_000;
/** Texts longer than this name a counter by their hash. */
const longestText = 128;

/** One for the thread: whose counters they are does not depend on the API. */
const known = new WeakMap<object, Lru<string, string>>();

function knownTo(digestOfKey: GatewayTools['digestOfKey']): Lru<string, string> {
  const found = known.get(digestOfKey);
  if (found) return found;
  const made = new Lru<string, string>(ownersKept);
  known.set(digestOfKey, made);
  return made;
}

/** Whose counters a call is counted in: those of its key, or those that its pattern names. */
export function owners({ digestOfKey }: Pick<GatewayTools, 'digestOfKey'>) {
  const ofKeys = knownTo(digestOfKey);

  function ofKey(keyId: string): string {
    const owner = ofKeys.get(keyId);
    if (owner !== undefined) return owner;
    const made = keyOwner(digestOfKey(keyId));
    ofKeys.set(keyId, made);
    return made;
  }

  return (call: Exchange, session: Session): string => {
    const text = session.counterPattern === undefined ? '' : resolved(session.counterPattern, call, session);
    return text === '' ? ofKey(call.keyId) : patternOwner(session.orgId, bounded(text));
  };
}

const bounded = (text: string) =>
  text.length <= longestText ? text : createHash('sha256').update(text).digest('base64url');

const variable = /\$gw_(context|meta)\.([\w.-]+)/g;

/** The pattern with its variables filled in. What is unknown is empty. */
const resolved = (pattern: string, call: Exchange, session: Session): string =>
  pattern.replaceAll(variable, (_whole, from: string, name: string) =>
    shown((from === 'meta' ? session.metaData : call.context)?.[name]),
  );
