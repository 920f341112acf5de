import { type EventScriptSink, pluginHandlerType } from '#events/dispatch.ts';
import type { EventScriptServices } from './event-scripts.ts';
import { createMainFunctions, type MainFunctionServices } from './main-functions.ts';
import type { PluginFunctionCall } from './plugin-rpc.ts';

export type PluginHostServices = Omit<EventScriptServices, 'runner' | 'rpc'> &
  MainFunctionServices & { readonly scriptSink: EventScriptSink };

/** Plugins on the main thread: functions for those of traffic threads, and scripts of event handlers on its workers. */
export function createPluginHost(services: PluginHostServices) {
  const { settings, clock, scriptSink } = services;
  const functions = createMainFunctions(services);
  let opened: ReturnType<typeof open> | undefined;
  let openedEvents: ReturnType<typeof openEvents> | undefined;

  /** Loads the sandbox, which most processes need on traffic threads only. */
  async function open() {
    const [{ createPluginRunner }, { createEventScripts }] = await Promise.all([
      import('./plugin-runner.ts'),
      import('./event-scripts.ts'),
    ]);
    // The main thread runs no scripts itself, whatever the setting of traffic threads.
    const runner = createPluginRunner({ ...settings, 'plugins.run_on': 'worker' }, clock);
    const rpc = (async (_name: string, call: PluginFunctionCall) =>
      functions.runPluginFunction(call)) as EventScriptServices['rpc'];
    return { runner, runEvent: createEventScripts({ ...services, runner, rpc }) };
  }

  const openEvents = async () => (await import('./grpc/grpc-events.ts')).createGrpcEvents(services);

  if (settings['plugins.enabled'])
    scriptSink.run = (...event) => {
      const [, { type }] = event;
      if (type === pluginHandlerType) {
        openedEvents ??= openEvents();
        return void openedEvents.then(it => it.run(...event));
      }
      opened ??= open();
      void opened.then(it => it.runEvent(...event));
    };
  return {
    functions,
    async close(): Promise<void> {
      scriptSink.run = () => undefined;
      (await openedEvents)?.close();
      await (await opened)?.runner.close();
    },
  };
}
