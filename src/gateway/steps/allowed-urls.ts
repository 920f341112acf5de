import { findRight, type Right } from '#access/keys/session.ts';
import { Lru } from '#base/lru.ts';
import { plainSpelling } from '../http/path.ts';
import { type MatchMode, pathPattern } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import { ApiCompileError, type Step } from '../pipeline/step.ts';

type Fits = (path: string) => boolean;

/** Many keys share a few policies, and so a few patterns. */
const patternsKept = 5000;

/** The key may call this endpoint, where its rights name endpoints. */
export const allowedUrls: Step = {
  name: 'allowed-urls',
  build({ model, services }) {
    if (model.modes.length === 0) return undefined;
    const { id } = model.identity;
    const mode = services.settings['gateway.endpoint_match'];
    const patterns = patternsOf(mode);
    // Whole paths would let `/a/b` open `/b` of the API at `/a`: they count for those who ask for it.
    const matchesWhole = mode !== 'strict' || services.settings['gateway.allowed_urls_whole_path'];
    const prepared = new WeakMap<Right, (call: Exchange) => boolean>();
    return {
      request(call) {
        const right = call.skipsAuth || !call.session ? undefined : findRight(call.session, id);
        if (!right || right.allowedUrls.length === 0) return undefined;
        let allows = prepared.get(right);
        if (!allows) {
          allows = prepare(right, patterns, matchesWhole);
          prepared.set(right, allows);
        }
        return allows(call) ? undefined : refuse(call, 'url_not_granted');
      },
    };
  },
};

/** A right is compiled when it is first used, with the session it belongs to. */
function prepare(
  { allowedUrls: urls }: Right,
  pattern: (url: string) => Fits,
  matchesWhole: boolean,
): (call: Exchange) => boolean {
  const rules = urls.map(({ url, methods }) => ({
    methods: new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods),
    fits: url === '' ? always : pattern(url),
  }));
  const allows = (method: string, path: string, innerPath: string) =>
    rules.some(({ methods, fits }) => methods.has(method) && (fits(innerPath) || (matchesWhole && fits(path))));
  return ({ method, path, innerPath, isPathAmbiguous: twofold }) =>
    allows(method, path, innerPath) && (!twofold || allows(method, plainSpelling(path), plainSpelling(innerPath)));
}

const always = () => true;
const never = () => false;

function patternsOf(mode: MatchMode): (url: string) => Fits {
  const known = new Lru<string, Fits>(patternsKept);
  return url => {
    const compiled = known.get(url) ?? compiledOr(url, mode);
    known.set(url, compiled);
    return compiled;
  };
}

/** What nobody can read allows nothing. */
function compiledOr(url: string, mode: MatchMode): Fits {
  try {
    return pathPattern(url, mode);
  } catch (error) {
    if (error instanceof ApiCompileError) return never;
    throw error;
  }
}
