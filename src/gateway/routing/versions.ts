import { findUnversionedKey, type Model, type VersionModel } from '#definition/model.ts';
import { stripMatrixParameters } from '../http/path.ts';
import type { GatewayResponse } from '../http/response.ts';
import { compileBoundedRegex } from '../pipeline/bounded-regex.ts';
import type { Chain } from '../pipeline/chain.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type RefusalCode, refuse } from '../pipeline/refusals.ts';
import type { StepHooks } from '../pipeline/step.ts';
import type { LoadBalancer, UpstreamAddress } from '../proxy/load-balancer.ts';

/** Versions inside one definition; where each is an API of its own, keys and times of service belong to that one. */
export const hasOwnVersions = ({ form, versioning, versionData }: Model): boolean =>
  form === 'classic' && !versioning.enabled && !versionData.notVersioned;

/** A version inside a definition, with all that serves its calls. */
export interface Served {
  readonly kind: 'own';
  readonly version: VersionModel;
  readonly chain: Chain;
  /** Set where OPTIONS requests pass the chain: what counts for them still. */
  readonly optionsAccess: StepHooks['request'] | undefined;
  readonly target: LoadBalancer;
  /** The one place there is to go to, where there is one. */
  readonly fixed: UpstreamAddress | undefined;
}

/** Which version of the API a call gets: one inside its definition, or another API. */
export type Chosen =
  | Served
  | { readonly kind: 'other'; readonly apiId: string; readonly isDefault: boolean }
  | {
      readonly kind: 'refused';
      readonly answer: GatewayResponse;
      /** Nobody is told where every version is an API of its own. */
      readonly isSilent: boolean;
    };

export interface VersionChoice {
  /** Set where there is nothing to choose. */
  readonly only?: Served;
  choose(call: Exchange): Chosen;
}

/** `header` tells callers that they got the default version, and its name; empty tells nobody. */
export function versionChoice(model: Model, served: readonly Served[], header = ''): VersionChoice {
  if (model.versioning.enabled) return apiVersions(model, served, header);
  if (model.versionData.notVersioned || model.form !== 'classic') return oneVersion(served);
  return namedVersions(model, served, header);
}

function told(call: Exchange, header: string, chosen: Chosen): Chosen {
  // Of several APIs that take part, the one that was called speaks.
  if (header !== '' && chosen.kind !== 'refused' && call.loopCount === 0) {
    const name = call.versionName;
    call.extraResponseHeaders ??= [];
    call.extraResponseHeaders.push(header, /^[!-~]+$/.test(name) ? name : encodeURIComponent(name));
  }
  return chosen;
}

/** A definition without versions: refused when it is not clear which of its entries counts. */
function oneVersion(served: readonly Served[]): VersionChoice {
  const keys = served.map(({ version }) => version.key);
  const key = findUnversionedKey(keys);
  const only = served.find(({ version }) => version.key === key);
  if (only) return { only, choose: () => only };
  const plain = keys.filter(it => /^(default|)$/i.test(it)).length;
  const code: RefusalCode = plain > 1 ? 'version_ambiguous' : 'version_no_default';
  return { choose: call => refused(call, code) };
}

const refused = (call: Exchange, code: RefusalCode, isSilent = false): Chosen => ({
  kind: 'refused',
  answer: refuse(call, code),
  isSilent,
});

/** Versions inside one definition, by the name a call gives. */
function namedVersions(model: Model, served: readonly Served[], header: string): VersionChoice {
  const byName = new Map(served.map(it => [nameOf(it), it]));
  for (const it of served) byName.set(it.version.key, it);
  const { defaultVersion } = model.versionData;
  const fallback = byName.get(defaultVersion);
  const withoutName: RefusalCode = defaultVersion === '' ? 'version_missing' : 'version_unknown';
  const place = versionPlace(model);
  const { fallbackToDefault } = model.versioning;
  return {
    choose(call) {
      const name = place.read(call);
      if (name === '') return fallback ? told(call, header, own(call, fallback)) : refused(call, withoutName);
      const version = byName.get(name);
      if (!version && place.mayMean(call, name, it => byName.has(it))) return refused(call, 'path_ambiguous');
      if (!version && !(fallbackToDefault && fallback)) return refused(call, 'version_unknown');
      if (version || place.mayStripUnknown(name)) place.strip(call, name);
      return version ? own(call, version) : told(call, header, own(call, fallback!));
    },
  };
}

const nameOf = ({ version: { version, key } }: Served) => version.name || key;

function own(call: Exchange, served: Served): Chosen {
  call.versionName = nameOf(served);
  return served;
}

/** Every version an API of its own; this one is the base. */
function apiVersions(model: Model, served: readonly Served[], header: string): VersionChoice {
  const { name: baseName, default: fallback, versions, fallbackToDefault } = model.versioning;
  const base = oneVersion(served);
  const place = versionPlace(model);
  const isBase = (name: string) => name === baseName || name === 'self';

  function byName(call: Exchange, name: string, isDefault: boolean): Chosen | undefined {
    if (isBase(name)) {
      call.versionName = baseName;
      return base.choose(call);
    }
    const apiId = Object.hasOwn(versions, name) ? versions[name] : undefined;
    if (apiId === undefined) return undefined;
    call.versionName = name;
    return { kind: 'other', apiId, isDefault };
  }

  return {
    choose(call) {
      const name = place.read(call);
      if (name === '') {
        if (fallback === '') return refused(call, 'version_missing', true);
        return told(call, header, byName(call, fallback, true) ?? refused(call, 'version_default_unavailable', true));
      }
      const known = byName(call, name, false);
      if (known) {
        place.strip(call, name);
        return known;
      }
      if (place.mayMean(call, name, it => isBase(it) || Object.hasOwn(versions, it)))
        return refused(call, 'path_ambiguous', true);
      if (!fallbackToDefault) return refused(call, 'version_api_unknown', true);
      if (place.mayStripUnknown(name)) place.strip(call, name);
      return told(call, header, byName(call, fallback, true) ?? refused(call, 'version_default_unavailable', true));
    },
  };
}

interface VersionPlace {
  read(call: Exchange): string;
  strip(call: Exchange, name: string): void;
  /** In the URL an unknown version may be an ordinary segment: only a pattern tells. */
  mayStripUnknown(name: string): boolean;
  /** Whether an upstream may read another name than ours, one that is known. */
  mayMean(call: Exchange, name: string, isKnown: (name: string) => boolean): boolean;
}

function versionPlace({ versioning, identity }: Model): VersionPlace {
  const { location, key, stripVersioningData, urlVersioningPattern } = versioning;
  const pattern = urlVersioningPattern
    ? compileBoundedRegex('the pattern of versions in URLs', urlVersioningPattern)
    : undefined;
  const matches = (name: string) => pattern === undefined || pattern.matcher(name).find();
  if (location === 'url') return urlPlace(identity.slug, stripVersioningData, matches, pattern !== undefined);
  if (location === 'url-param') return queryPlace(key || 'x-api-version', stripVersioningData);
  return headerPlace((key || 'x-api-version').toLowerCase(), stripVersioningData);
}

const headerPlace = (name: string, strip: boolean): VersionPlace => ({
  read: call => call.headers.get(name) ?? '',
  strip: call => void (strip && call.headers.remove(name)),
  mayStripUnknown: () => true,
  mayMean: () => false,
});

const queryPlace = (name: string, strip: boolean): VersionPlace => ({
  read: call => (call.query.includes(name) ? (new URLSearchParams(call.query).get(name) ?? '') : ''),
  strip(call) {
    if (!strip) return;
    const kept = call.query.split('&').filter(pair => decodeURIComponentSafe(pair.split('=', 1)[0]!) !== name);
    call.query = kept.join('&');
  },
  mayStripUnknown: () => true,
  mayMean: () => false,
});

function decodeURIComponentSafe(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** The first segment below the listen path, and below the slug where that stands first. */
function urlPlace(slug: string, strip: boolean, matches: (name: string) => boolean, hasPattern: boolean): VersionPlace {
  const offset = (path: string) => (slug !== '' && path.startsWith(`/${slug}/`) ? slug.length + 1 : 0);
  return {
    read(call) {
      const start = offset(call.innerPath) + 1;
      const end = call.innerPath.indexOf('/', start);
      return call.innerPath.slice(start, end < 0 ? undefined : end);
    },
    strip(call, name) {
      if (!strip || !matches(name)) return;
      const start = offset(call.innerPath);
      const rest = call.innerPath.slice(start + 1 + name.length);
      const above = call.path.slice(0, call.path.length - call.innerPath.length);
      call.innerPath = call.innerPath.slice(0, start) + (rest === '' ? '/' : rest);
      call.pathWithoutVersion = above + call.innerPath;
    },
    mayStripUnknown: name => hasPattern && matches(name),
    mayMean: ({ isPathAmbiguous: twofold }, name, isKnown) => twofold && isKnown(stripMatrixParameters(name).slice(1)),
  };
}
