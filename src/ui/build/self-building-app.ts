import type { Log } from '#base/log.ts';
import { hashWebAppSources, listBuildDirectories } from '#operations/web-app/location.ts';
import { createWebApp, type WebApp } from '#operations/web-app/web-app.ts';
import { type RunningBuild, startBuild } from './start-build.ts';

/** Web app of an installation, which builds itself where no build of its sources is there, or is no longer. */
export interface SelfBuildingApp {
  readonly webApp: WebApp;
  /** Starts a build where one is missing; called when the listeners are open, which do not wait for it. */
  ensureBuilt(): Promise<void>;
  stop(): void;
}

export function createSelfBuildingApp(
  dataDirectory: string,
  log: Log,
  directories = listBuildDirectories(dataDirectory),
): SelfBuildingApp {
  let build: RunningBuild | undefined;
  let isChecked = false;
  let isStopped = false;
  const isBuilding = () => !isChecked || build?.isRunning() === true;
  // A build that began after the stop would keep the process alive.
  const start = () => {
    if (!isStopped) build = startBuild({ directories, log });
  };
  const onLost = () => {
    log.warn({ directories }, 'web app build missing');
    start();
  };
  const webApp = createWebApp({ directories, hashSources: hashWebAppSources, isBuilding, onLost });
  return {
    webApp,
    async ensureBuilt() {
      if ((await webApp.find()) === undefined) start();
      isChecked = true;
    },
    stop() {
      isStopped = true;
      build?.stop();
    },
  };
}
