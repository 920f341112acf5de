import { decodeQueryText } from '#base/percent-decode.ts';
import { findUnversionedKey, type Model, type VersionModel } from '#definition/model.ts';
import { stripMatrixParameters } from '../http/path.ts';
import type { GatewayResponse } from '../http/response.ts';
import { compileBoundedRegex } from '../pipeline/bounded-regex.ts';
import type { Chain, Exchange, StepHooks } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { UpstreamAddress } from '../pipeline/upstream-address.ts';
import type { LoadBalancer } from '../proxy/load-balancer.ts';

/** A version inside a definition with its compiled chain and load balancer. */
export interface VersionRuntime {
  readonly kind: 'own';
  readonly version: VersionModel;
  readonly chain: Chain;
  /** Access checks for OPTIONS requests where those skip the chain. */
  readonly optionsAccess: StepHooks['request'] | undefined;
  readonly loadBalancer: LoadBalancer;
  /** The only upstream address, where there is one: saves the load balancer call. */
  readonly fixedAddress: UpstreamAddress | undefined;
}

/** Result of version selection: a version inside the definition, another API, or a refusal. */
export type VersionSelection =
  | VersionRuntime
  | { readonly kind: 'other'; readonly apiId: string; readonly isDefault: boolean }
  | {
      readonly kind: 'refused';
      readonly response: GatewayResponse;
      /** No event is emitted where versions are APIs of their own. */
      readonly isSilent: boolean;
    };

export interface VersionSelector {
  /** Set where there is exactly one version. */
  readonly only?: VersionRuntime;
  select(call: Exchange): VersionSelection;
}

/** `header`: response header that names the default version when it was used; empty for none. */
export function createVersionSelector(model: Model, runtimes: readonly VersionRuntime[], header = ''): VersionSelector {
  if (model.versioning.enabled) return createApiSelector(model, runtimes, header);
  if (model.versionData.notVersioned || model.format !== 'classic') return createSingleSelector(runtimes);
  return createNameSelector(model, runtimes, header);
}

function addVersionHeader(call: Exchange, header: string, selection: VersionSelection): VersionSelection {
  // Only the API that the client called sets the header, not those reached by loops.
  if (header !== '' && selection.kind !== 'refused' && call.loopCount === 0) {
    const name = call.versionName;
    call.extraResponseHeaders ??= [];
    call.extraResponseHeaders.push(header, /^[!-~]+$/.test(name) ? name : encodeURIComponent(name));
  }
  return selection;
}

/** A definition without versioning: refused when its entries leave the default ambiguous. */
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

/** Versions inside one definition, selected by name. */
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

/** Versions that are APIs of their own; this API is the base. */
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
  /** An unknown version in the URL may be an ordinary segment: only a pattern distinguishes them. */
  canStripUnknown(name: string): boolean;
  /** Path ambiguity: an upstream that strips matrix parameters would read another, existing version. */
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
    const remainingPairs = call.query.split('&').filter(pair => decodeQueryText(pair.split('=', 1)[0]!) !== name);
    call.query = remainingPairs.join('&');
  },
  canStripUnknown: () => true,
  isAmbiguous: () => false,
});

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
    isAmbiguous: ({ isPathAmbiguous }, name, isKnown) =>
      isPathAmbiguous && isKnown(stripMatrixParameters(name).slice(1)),
  };
}
