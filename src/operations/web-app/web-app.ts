import { join } from 'node:path';
import { type BuiltApp, openBuiltApp } from './built-app.ts';

/** Web app of a listener: the build for the sources of this process, which may still be running. */
export interface WebApp {
  /** Undefined until the build is complete. */
  find(): Promise<BuiltApp | undefined>;
  isBuilding(): boolean;
}

export interface WebAppOptions {
  readonly directories: readonly string[];
  hashSources(): string;
  isBuilding?(): boolean;
}

/** Looks for the build on the first request, and again on later ones until it is there. */
export function createWebApp({ directories, hashSources, isBuilding = () => false }: WebAppOptions): WebApp {
  let hash: string | undefined;
  let built: BuiltApp | undefined;
  return {
    async find() {
      if (built) return built;
      hash ??= hashSources();
      built = await openBuiltApp(directories.map(directory => join(directory, hash!)));
      return built;
    },
    isBuilding,
  };
}
