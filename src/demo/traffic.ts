import type { Log } from '#base/log.ts';
import { request } from '#base/node-http.ts';
import { repeat } from '#base/repeat.ts';
import { keyTable } from './access-objects.ts';
import { pickWeighted, type Random } from './random.ts';
import { type SampleCall, sampleCalls } from './sample-calls.ts';
import type { DemoState } from './state.ts';

/** A gentle stream of sample calls to the gateway of this process. */

/** Two to three calls a second. */
const minPauseMs = 200;
const maxPauseMs = 600;
const callTimeoutMs = 5000;
/** Between two checks whether the demo still exists: another process may remove it. */
const callsPerCheck = 60;
const agents = ['demo-web/2.1', 'demo-ios/5.0', 'demo-android/5.2'] as const;

export interface TrafficOptions {
  readonly gatewayUrl: string;
  readonly state: DemoState;
  readonly random: Random;
  readonly log: Log;
  isStillThere(): Promise<boolean>;
}

const toBasic = ({ user, password }: DemoState['reporter']) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

function createAuthorization({ credential, policy }: SampleCall, { state, random }: TrafficOptions): string {
  if (credential === 'none') return '';
  if (credential === 'wrong') return 'a-key-that-does-not-exist';
  if (credential === 'user') return toBasic(state.reporter);
  const candidates = policy ? keyTable.filter(row => row.policy === policy) : keyTable;
  const { alias } = pickWeighted(candidates, random);
  return state.keys.find(it => it.alias === alias)!.key;
}

interface SendOptions extends TrafficOptions {
  /** Ends a call in progress when the process stops. */
  readonly signal: AbortSignal;
}

/** Sends one call; resolves when its response has ended, or it has failed, which is a sample too. */
function send(call: SampleCall, authorization: string, { gatewayUrl, random, signal }: SendOptions): Promise<void> {
  return new Promise(resolve => {
    const sent = request(
      new URL(`${call.listenPath}${call.path}`, gatewayUrl),
      {
        method: call.method,
        timeout: callTimeoutMs,
        signal,
        headers: {
          'user-agent': agents[Math.floor(random() * agents.length)]!,
          ...(authorization && { authorization }),
          ...(call.body !== undefined && { 'content-type': 'application/json' }),
        },
      },
      response =>
        response
          .on('error', () => resolve())
          .on('close', resolve)
          .resume(),
    );
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve());
    sent.end(call.body);
  });
}

export function startTraffic(options: TrafficOptions) {
  const { random, log, isStillThere } = options;
  const controller = new AbortController();
  const { signal } = controller;
  let calls = 0;
  const loop = repeat(
    () => minPauseMs + random() * (maxPauseMs - minPauseMs),
    async () => {
      if (++calls % callsPerCheck === 0 && !(await isStillThere())) {
        log.info('demo removed, sample calls stopped');
        return loop.stop();
      }
      const call = pickWeighted(sampleCalls, random);
      const authorization = createAuthorization(call, options);
      for (let sent = 0; sent < (call.burst ?? 1) && !signal.aborted; sent++)
        await send(call, authorization, { ...options, signal });
    },
    { onError: error => log.warn({ reason: error.message }, 'sample call failed'), unref: true },
  );
  return {
    close(): Promise<void> {
      controller.abort();
      return loop.close();
    },
  };
}
