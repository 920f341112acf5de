import { findRight, type Right } from '#access/keys/session.ts';
import { Lru } from '#base/lru.ts';
import { stripMatrixParameters } from '../http/path.ts';
import { compilePathPattern, type MatchMode } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { ApiCompileError, type Step, type StepReads } from '../pipeline/step.ts';

type PathTest = (path: string) => boolean;

/** Compiled patterns cached: many keys share a few policies, and so a few patterns. */
const maxCachedPatterns = 5000;

type Services = Pick<PipelineServices, 'settings'>;

const reads = { also: { api: ['authMethods'] } } as const satisfies StepReads;

/** Restricts keys to the endpoints of their access rights. */
export const allowedUrlsStep: Step<Services, typeof reads> = {
  name: 'allowed-urls',
  reads,
  build({ model, services }) {
    if (model.authMethods.length === 0) return undefined;
    const { id } = model.identity;
    const mode = services.settings['gateway.endpoint_match'];
    const patterns = createPatternCache(mode);
    // Whole paths would let `/a/b` open `/b` of the API at `/a`: matched only where configured.
    const matchesWhole = mode !== 'strict' || services.settings['gateway.allowed_urls_whole_path'];
    const prepared = new WeakMap<Right, (call: Exchange) => boolean>();
    return {
      request(call) {
        const right = call.skipsAuth || !call.session ? undefined : findRight(call.session, id);
        if (!right || right.allowedUrls.length === 0) return undefined;
        let allows = prepared.get(right);
        if (!allows) {
          allows = compileRight(right, patterns, matchesWhole);
          prepared.set(right, allows);
        }
        return allows(call) ? undefined : refuse(call, 'url_not_granted');
      },
    };
  },
};

/** Compiles an access right on first use; cached with its session. */
function compileRight(
  { allowedUrls: urls }: Right,
  pattern: (url: string) => PathTest,
  matchesWhole: boolean,
): (call: Exchange) => boolean {
  const rules = urls.map(({ url, methods }) => ({
    methods: new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods),
    matches: url === '' ? always : pattern(url),
  }));
  const allows = (method: string, path: string, innerPath: string) =>
    rules.some(
      ({ methods, matches }) => methods.has(method) && (matches(innerPath) || (matchesWhole && matches(path))),
    );
  return ({ method, path, innerPath, isPathAmbiguous: twofold }) =>
    allows(method, path, innerPath) &&
    (!twofold || allows(method, stripMatrixParameters(path), stripMatrixParameters(innerPath)));
}

const always = () => true;
const never = () => false;

function createPatternCache(mode: MatchMode): (url: string) => PathTest {
  const cache = new Lru<string, PathTest>(maxCachedPatterns);
  return url => {
    const compiled = cache.get(url) ?? compileOrNever(url, mode);
    cache.set(url, compiled);
    return compiled;
  };
}

/** An invalid pattern allows nothing. */
function compileOrNever(url: string, mode: MatchMode): PathTest {
  try {
    return compilePathPattern(url, mode);
  } catch (error) {
    if (error instanceof ApiCompileError) return never;
    throw error;
  }
}
