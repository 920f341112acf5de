import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import { createGrpcPlugins } from './grpc/create-grpc-plugins.ts';
import { createPluginRunner } from './plugin-runner.ts';
import type { PluginServices } from './services.ts';
import { createTrustedModules } from './typescript/trusted-modules.ts';

interface CreatedPluginServices {
  readonly services: Pick<PluginServices, 'pluginRunner' | 'grpcPlugins' | 'trustedModules'>;
  close(): Promise<void>;
}

/** Runtimes of plugins that the APIs of a traffic thread share. */
export function createPluginServices(settings: Settings, clock: Clock, log: Log): CreatedPluginServices {
  const pluginRunner = createPluginRunner(settings, clock);
  const grpcPlugins = createGrpcPlugins(settings, log);
  return {
    services: { pluginRunner, grpcPlugins, trustedModules: createTrustedModules(settings) },
    async close() {
      grpcPlugins?.close();
      await pluginRunner.close();
    },
  };
}
