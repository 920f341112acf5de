import { join } from 'node:path';
import { type BuiltApp, openBuiltApp } from './built-app.ts';

/** Web app of a listener: the build for the sources of this process, which may still be running. */
export interface WebApp {
  /** Undefined until the build is complete, and after its files are gone. `file`: the one that is read next. */
  find(file?: string): Promise<BuiltApp | undefined>;
  isBuilding(): boolean;
}

export interface WebAppOptions {
  readonly directories: readonly string[];
  hashSources(): string;
  isBuilding?(): boolean;
  /** Called when the files of a build that was served are gone. */
  onLost?(): void;
}

/** Looks for the build on the first request, and again on later ones until it is there. */
export function createWebApp(options: WebAppOptions): WebApp {
  const { directories, hashSources, isBuilding = () => false, onLost } = options;
  let hash: string | undefined;
  let built: BuiltApp | undefined;
  return {
    async find(file) {
      const known = built;
      if (await known?.isThere(file)) return known;
      hash ??= hashSources();
      const opened = await openBuiltApp(directories.map(directory => join(directory, hash!)));
      // Concurrent requests see the loss at the same time: it is reported by the first.
      const isLost = opened === undefined && known !== undefined && known === built;
      built = opened;
      if (isLost) onLost?.();
      return built;
    },
    isBuilding,
  };
}
