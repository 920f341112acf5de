import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Loads a package on first use. */
export function createLoader<T>(name: string): () => T {
  let loaded: T | undefined;
  return () => {
    loaded ??= require(name) as T;
    return loaded;
  };
}

/** Packages that an idle process has no use for: each costs memory in every thread that loads it. */
export const loadUndici = createLoader<typeof import('undici')>('undici');
export const loadJose = createLoader<typeof import('jose')>('jose');
export const loadRe2 = createLoader<typeof import('re2js')>('re2js');
export const loadYaml = createLoader<typeof import('yaml')>('yaml');

/** The part of the reader that is used; what a database holds is checked where it is read. */
interface MaxmindReaderPackage {
  readonly Reader: new (
    database: Buffer,
  ) => {
    readonly metadata: { readonly searchTreeSize: number; readonly ipVersion: number };
    get(address: string): unknown;
  };
}
export const loadMaxmindReader = createLoader<MaxmindReaderPackage>('mmdb-lib');

/** Its types are not needed: the value is a parsed document before and after. */
interface OpenApiUpgrader {
  upgradeFromTwoToThree(document: Record<string, unknown>): Record<string, unknown>;
}
export const loadOpenApiUpgrader = createLoader<OpenApiUpgrader>('@scalar/openapi-upgrader/2.0-to-3.0');
