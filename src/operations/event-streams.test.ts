import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLog } from '#base/log.ts';
import { readSettings } from '#base/settings.ts';
import { eventually } from '../../tests/support/upstream.ts';
import type { Actor } from './actor.ts';
import { createEventStreams, type EventSourceOptions, reauthenticationIntervalMs } from './event-streams.ts';
import { problem } from './problems.ts';

const toActor = (orgId: string, id: string): Actor => ({ surface: 'dashboard', id, name: id, orgId, permissions: {} });

function openStreams(settings: Record<string, string> = {}) {
  const time = { ms: 1_000_000 };
  const log = createLog({ level: 'silent', format: 'json', write: () => undefined });
  const streams = createEventStreams({
    settings: readSettings({ flags: settings }),
    clock: { now: () => time.ms },
    log,
  });
  const open = (actor: Actor, more: Partial<EventSourceOptions> = {}) =>
    streams.open({ actor, lifetimeSeconds: 300, poll: async () => [], reauthenticate: async () => actor, ...more });
  return { streams, open, time };
}

describe('Event streams', () => {
  test('a user, an organisation and the process have a maximum of streams each, and a closed one makes room', async () => {
    const { streams, open } = openStreams({ 'management.max_event_streams': '53' });
    for (let n = 0; n < 10; n++) open(toActor('a', 'u0'));
    assert.throws(() => open(toActor('a', 'u0')), { status: 429, message: /^The user has 10 open event streams/ });
    for (let n = 10; n < 50; n++) open(toActor('a', `u${n}`));
    assert.throws(() => open(toActor('a', 'u99')), { message: /^The organisation has 50 open event streams/ });
    const others = ['b', 'c', 'd'].map(orgId => open(toActor(orgId, 'u0')));
    assert.throws(() => open(toActor('e', 'u0')), { message: /^The process has 53 open event streams/ });
    others[0]!.destroy();
    await eventually(() => open(toActor('e', 'u0')));
    streams.close();
  });

  test('the caller is authenticated again, and later events are those of its present rights', async () => {
    const { streams, open, time } = openStreams();
    const [before, after] = [toActor('a', 'before'), toActor('a', 'after')];
    const callers: string[] = [];
    const poll = async ({ id }: Actor) => {
      callers.push(id);
      return [];
    };
    open(before, { reauthenticate: async () => after, poll }).resume();
    await eventually(() => assert.deepEqual([...new Set(callers)], ['before']));
    time.ms += reauthenticationIntervalMs;
    await eventually(() => assert.ok(callers.includes('after')));
    streams.close();
  });

  test('a stream ends with an error where the credential or permission of its caller was withdrawn', async () => {
    const { streams, open, time } = openStreams();
    let text = '';
    const stream = open(toActor('a', 'u'), {
      reauthenticate: async () => {
        throw problem.not_authorised();
      },
    });
    stream.on('data', chunk => {
      text += chunk;
    });
    const ended = new Promise(resolve => stream.once('end', resolve));
    time.ms += reauthenticationIntervalMs;
    await ended;
    assert.match(text, /event: error\ndata: \{"message":"Not authorised"\}\n\n$/);
    streams.close();
  });
});
