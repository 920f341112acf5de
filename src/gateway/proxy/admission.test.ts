import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { Admission, type AdmissionOptions, type Admittable } from './admission.ts';

const eventually = async (check: () => boolean): Promise<void> => {
  while (!check()) await new Promise(resolve => setImmediate(resolve));
};

/** Requests by name, and the order in which those that waited were admitted. */
function admission(options: Partial<AdmissionOptions> = {}) {
  const admitted: string[] = [];
  const expired: string[] = [];
  const made = new Admission({
    maxActive: 4,
    maxWaiting: 8,
    maxSharePercent: 50,
    waitTimeouts: new TimeoutQueue(60_000),
    ...options,
  });
  function ask(name: string, clientAddress: string, keyOwner = '', orgId = '') {
    const request: Admittable = {
      admissionState: 'none',
      client: undefined,
      key: undefined,
      organisation: undefined,
      blocker: undefined,
      waitTimeout: undefined,
      onAdmitted: () => void admitted.push(name),
      onWaitTimeout: () => void expired.push(name),
    };
    return {
      place: made.admit(request, { clientAddress, counterOwner: keyOwner }, orgId),
      leave: () => made.release(request),
    };
  }
  return { made, ask, admitted, expired };
}

describe('upstream admission control', () => {
  test('one client holds at most its share, and the rest is for others', () => {
    const { made, ask, admitted } = admission();
    const first = ask('a1', '10.0.0.1');
    assert.deepEqual([first.place, ask('a2', '10.0.0.1').place], ['active', 'active']);
    assert.deepEqual([ask('a3', '10.0.0.1').place, ask('b1', '10.0.0.2').place], ['waiting', 'active']);
    first.leave();
    assert.deepEqual([admitted, made.active, made.waiting], [['a3'], 3, 0]);
  });

  test('a key and an organisation hold at most their shares, whatever addresses their requests come from', () => {
    const { ask, admitted } = admission();
    const held = [ask('k1', '10.0.0.1', 'key', 'x'), ask('k2', '10.0.0.2', 'key', 'x')];
    assert.equal(ask('k3', '10.0.0.3', 'key', 'x').place, 'waiting');
    assert.equal(ask('x', '10.0.0.4', 'other', 'x').place, 'waiting');
    assert.deepEqual([ask('y', '10.0.0.4', 'other', 'y').place, ask('z', '10.0.0.5').place], ['active', 'active']);
    held[0]!.leave();
    held[1]!.leave();
    assert.deepEqual(admitted, ['k3', 'x']);
  });

  test('a request blocked by its key takes no slot of its client', () => {
    const { ask, admitted } = admission({ maxActive: 4 });
    const client = [ask('a1', '10.0.0.1', 'one'), ask('a2', '10.0.0.1', 'two')];
    ask('b', '10.0.0.2', 'one');
    assert.equal(ask('a3', '10.0.0.1', 'one').place, 'waiting');
    assert.equal(ask('a4', '10.0.0.1', 'three').place, 'waiting');
    client[1]!.leave();
    assert.deepEqual(admitted, ['a4']);
  });

  test('clients take turns at a busy upstream, however many requests of each wait', () => {
    const { ask, admitted } = admission({ maxActive: 2, maxSharePercent: 100 });
    const held = [ask('x1', 'x'), ask('x2', 'x')];
    for (const [name, client] of ['a1 a', 'a2 a', 'b1 b'].map(it => it.split(' ')))
      assert.equal(ask(name!, client!).place, 'waiting');
    for (const it of held) it.leave();
    assert.deepEqual(admitted, ['a1', 'b1']);
  });

  test('the queue is bounded, for all and for each', () => {
    const { made, ask } = admission({ maxActive: 1, maxWaiting: 4 });
    ask('busy', 'x');
    const places = (client: string) => Array.from({ length: 3 }, (_, n) => ask(`${client}${n}`, client).place);
    assert.deepEqual(places('a'), ['waiting', 'waiting', 'refused']);
    assert.deepEqual(places('b'), ['waiting', 'waiting', 'refused']);
    assert.equal(ask('c', 'c').place, 'refused');
    assert.equal(made.waiting, 4);
  });

  test('a request that leaves the queue gives its place in it back, once', () => {
    const { made, ask, admitted } = admission({ maxActive: 1, maxWaiting: 2 });
    const held = ask('busy', 'x');
    const one = ask('a', 'a');
    const other = ask('b', 'b');
    assert.equal(ask('c', 'c').place, 'refused');
    one.leave();
    one.leave();
    assert.equal(made.waiting, 1);
    assert.equal(ask('c', 'c').place, 'waiting');
    held.leave();
    assert.deepEqual(admitted, ['b']);
    other.leave();
    assert.deepEqual([admitted, made.active, made.waiting], [['b', 'c'], 1, 0]);
  });

  test('a request that waits too long leaves the queue', async () => {
    const { made, ask, expired, admitted } = admission({ maxActive: 1, waitTimeouts: new TimeoutQueue(5) });
    const held = ask('busy', 'x');
    ask('a', 'a');
    ask('blocked', 'x');
    await eventually(() => expired.length === 2);
    held.leave();
    assert.deepEqual([made.active, made.waiting, admitted], [0, 0, []]);
  });

  test('an upstream that announces fewer streams gets no more than those', () => {
    const { made, ask, admitted } = admission({ maxSharePercent: 100 });
    made.resize(1);
    const held = ask('a', 'a');
    assert.equal(ask('b', 'b').place, 'waiting');
    made.resize(2);
    assert.deepEqual(admitted, ['b']);
    held.leave();
    assert.equal(made.active, 1);
  });

  test('any order of requests and releases leaves no state behind', () => {
    const { made, ask } = admission({ maxActive: 5, maxWaiting: 20 });
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    const open: ReturnType<typeof ask>[] = [];
    for (let round = 0; round < 20_000; round++) {
      if (random(2) === 0)
        open.push(ask('r', `c${random(200)}`, random(2) ? `k${random(6)}` : '', random(2) ? `o${random(3)}` : ''));
      else open.splice(random(open.length || 1), 1)[0]?.leave();
      assert.ok(made.active <= 5 && made.waiting <= 20);
    }
    for (const it of open) it.leave();
    assert.deepEqual([made.active, made.waiting], [0, 0]);
    assert.deepEqual([ask('a', 'a').place, ask('b', 'b').place], ['active', 'active']);
  });
});
