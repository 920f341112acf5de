import { findUnversionedKey, type Model, type VersionModel } from '#definition/model.ts';
import { stripMatrixParameters } from '../http/path.ts';
import type { GatewayResponse } from '../http/response.ts';
import { compileBoundedRegex } from '../pipeline/bounded-regex.ts';
import type { Chain } from '../pipeline/chain.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type RefusalCode, refuse } from '../pipeline/refusals.ts';
import type { StepHooks } from '../pipeline/step.ts';
import type { UpstreamAddress } from '../pipeline/upstream-address.ts';
import type { LoadBalancer } from '../proxy/load-balancer.ts';

/** A version inside a definition, with all that serves its calls. */
export interface VersionRuntime {
  readonly kind: 'own';
  readonly version: VersionModel;
  readonly chain: Chain;
  /** Set where OPTIONS requests pass the chain: what counts for them still. */
  readonly optionsAccess: StepHooks['request'] | undefined;
  readonly loadBalancer: LoadBalancer;
  /** The one place there is to go to, where there is one. */
  readonly fixedAddress: UpstreamAddress | undefined;
}

/** Which version of the API a call gets: one inside its definition, or another API. */
export type VersionSelection =
  | VersionRuntime
  | { readonly kind: 'other'; readonly apiId: string; readonly isDefault: boolean }
  | {
      readonly kind: 'refused';
      readonly response: GatewayResponse;
      /** Nobody is told where every version is an API of its own. */
      readonly isSilent: boolean;
    };

export interface VersionSelector {
  /** Set where there is nothing to choose. */
  readonly only?: VersionRuntime;
  select(call: Exchange): VersionSelection;
}

/** `header` tells callers that they got the default version, and its name; empty tells nobody. */
export function createVersionSelector(model: Model, runtimes: readonly VersionRuntime[], header = ''): VersionSelector {
  if (model.versioning.enabled) return createApiSelector(model, runtimes, header);
  if (model.versionData.notVersioned || model.form !== 'classic') return createSingleSelector(runtimes);
  return createNameSelector(model, runtimes, header);
}

function addVersionHeader(call: Exchange, header: string, selection: VersionSelection): VersionSelection {
  // Of several APIs that take part, the one that was called speaks.
  if (header !== '' && selection.kind !== 'refused' && call.loopCount === 0) {
    const name = call.versionName;
    call.extraResponseHeaders ??= [];
    call.extraResponseHeaders.push(header, /^[!-~]+$/.test(name) ? name : encodeURIComponent(name));
  }
  return selection;
}

/** A definition without versions: refused when it is not clear which of its entries counts. */
function createSingleSelector(runtimes: readonly VersionRuntime[]): VersionSelector {
  const keys = runtimes.map(({ version }) => version.key);
  const key = findUnversionedKey(keys);
  const only = runtimes.find(({ version }) => version.key === key);
  if (only) return { only, select: () => only };
  const unversionedCount = keys.filter(it => /^(default|)$/i.test(it)).length;
  const code: RefusalCode = unversionedCount > 1 ? 'version_ambiguous' : 'version_no_default';
  return { select: call => refuseVersion(call, code) };
}

const refuseVersion = (call: Exchange, code: RefusalCode, isSilent = false): VersionSelection => ({
  kind: 'refused',
  response: refuse(call, code),
  isSilent,
});

/** Versions inside one definition, by the name a call gives. */
function createNameSelector(model: Model, runtimes: readonly VersionRuntime[], header: string): VersionSelector {
  const byName = new Map(runtimes.map(it => [versionNameOf(it), it]));
  for (const it of runtimes) byName.set(it.version.key, it);
  const { defaultVersion } = model.versionData;
  const fallback = byName.get(defaultVersion);
  const codeWithoutName: RefusalCode = defaultVersion === '' ? 'version_missing' : 'version_unknown';
  const location = createVersionLocation(model);
  const { fallbackToDefault } = model.versioning;
  return {
    select(call) {
      const name = location.read(call);
      if (name === '')
        return fallback
          ? addVersionHeader(call, header, selectRuntime(call, fallback))
          : refuseVersion(call, codeWithoutName);
      const version = byName.get(name);
      if (!version && location.isAmbiguous(call, name, it => byName.has(it)))
        return refuseVersion(call, 'path_ambiguous');
      if (!version && !(fallbackToDefault && fallback)) return refuseVersion(call, 'version_unknown');
      if (version || location.canStripUnknown(name)) location.strip(call, name);
      return version ? selectRuntime(call, version) : addVersionHeader(call, header, selectRuntime(call, fallback!));
    },
  };
}

const versionNameOf = ({ version: { version, key } }: VersionRuntime) => version.name || key;

function selectRuntime(call: Exchange, runtime: VersionRuntime): VersionSelection {
  call.versionName = versionNameOf(runtime);
  return runtime;
}

/** Every version an API of its own; this one is the base. */
function createApiSelector(model: Model, runtimes: readonly VersionRuntime[], header: string): VersionSelector {
  const { name: baseName, default: fallback, versions, fallbackToDefault } = model.versioning;
  const base = createSingleSelector(runtimes);
  const location = createVersionLocation(model);
  const isBase = (name: string) => name === baseName || name === 'self';

  function selectByName(call: Exchange, name: string, isDefault: boolean): VersionSelection | undefined {
    if (isBase(name)) {
      call.versionName = baseName;
      return base.select(call);
    }
    const apiId = Object.hasOwn(versions, name) ? versions[name] : undefined;
    if (apiId === undefined) return undefined;
    call.versionName = name;
    return { kind: 'other', apiId, isDefault };
  }

  return {
    select(call) {
      const name = location.read(call);
      if (name === '') {
        if (fallback === '') return refuseVersion(call, 'version_missing', true);
        return addVersionHeader(
          call,
          header,
          selectByName(call, fallback, true) ?? refuseVersion(call, 'version_default_unavailable', true),
        );
      }
      const selection = selectByName(call, name, false);
      if (selection) {
        location.strip(call, name);
        return selection;
      }
      if (location.isAmbiguous(call, name, it => isBase(it) || Object.hasOwn(versions, it)))
        return refuseVersion(call, 'path_ambiguous', true);
      if (!fallbackToDefault) return refuseVersion(call, 'version_api_unknown', true);
      if (location.canStripUnknown(name)) location.strip(call, name);
      return addVersionHeader(
        call,
        header,
        selectByName(call, fallback, true) ?? refuseVersion(call, 'version_default_unavailable', true),
      );
    },
  };
}

interface VersionLocation {
  read(call: Exchange): string;
  strip(call: Exchange, name: string): void;
  /** In the URL an unknown version may be an ordinary segment: only a pattern tells. */
  canStripUnknown(name: string): boolean;
  /** Whether an upstream may read another name than ours, one that is known. */
  isAmbiguous(call: Exchange, name: string, isKnown: (name: string) => boolean): boolean;
}

function createVersionLocation({ versioning, identity }: Model): VersionLocation {
  const { location, key, stripVersioningData, urlVersioningPattern } = versioning;
  const pattern = urlVersioningPattern
    ? compileBoundedRegex('the pattern of versions in URLs', urlVersioningPattern)
    : undefined;
  const matches = (name: string) => pattern === undefined || pattern.matcher(name).find();
  if (location === 'url') return createUrlLocation(identity.slug, stripVersioningData, matches, pattern !== undefined);
  if (location === 'url-param') return createQueryLocation(key || 'x-api-version', stripVersioningData);
  return createHeaderLocation((key || 'x-api-version').toLowerCase(), stripVersioningData);
}

const createHeaderLocation = (name: string, strip: boolean): VersionLocation => ({
  read: call => call.headers.get(name) ?? '',
  strip: call => void (strip && call.headers.remove(name)),
  canStripUnknown: () => true,
  isAmbiguous: () => false,
});

const createQueryLocation = (name: string, strip: boolean): VersionLocation => ({
  read: call => (call.query.includes(name) ? (new URLSearchParams(call.query).get(name) ?? '') : ''),
  strip(call) {
    if (!strip) return;
    const remainingPairs = call.query.split('&').filter(pair => tryDecodeComponent(pair.split('=', 1)[0]!) !== name);
    call.query = remainingPairs.join('&');
  },
  canStripUnknown: () => true,
  isAmbiguous: () => false,
});

function tryDecodeComponent(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** The first segment below the listen path, and below the slug where that stands first. */
function createUrlLocation(
  slug: string,
  strip: boolean,
  matches: (name: string) => boolean,
  hasPattern: boolean,
): VersionLocation {
  const slugLength = (path: string) => (slug !== '' && path.startsWith(`/${slug}/`) ? slug.length + 1 : 0);
  return {
    read(call) {
      const start = slugLength(call.innerPath) + 1;
      const end = call.innerPath.indexOf('/', start);
      return call.innerPath.slice(start, end < 0 ? undefined : end);
    },
    strip(call, name) {
      if (!strip || !matches(name)) return;
      const start = slugLength(call.innerPath);
      const rest = call.innerPath.slice(start + 1 + name.length);
      const above = call.path.slice(0, call.path.length - call.innerPath.length);
      call.innerPath = call.innerPath.slice(0, start) + (rest === '' ? '/' : rest);
      call.pathWithoutVersion = above + call.innerPath;
    },
    canStripUnknown: name => hasPattern && matches(name),
    isAmbiguous: ({ isPathAmbiguous: twofold }, name, isKnown) =>
      twofold && isKnown(stripMatrixParameters(name).slice(1)),
  };
}
