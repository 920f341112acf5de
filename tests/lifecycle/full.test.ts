import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runChild, scratch, startChild } from '../support/gw-process.ts';
import { smallDisk } from './disk.ts';

const { fresh, remove } = scratch('full');
after(remove);

test('a start on a full disk fails with a one-line error', async () => {
  for (const kilobytes of [8, 200]) {
    const disk = smallDisk(fresh(), kilobytes);
    try {
      const { code, out, err } = await runChild(['start'], { directory: disk.path, prefix: disk.prefix });
      assert.deepEqual([code, out], [1, '']);
      assert.match(err.trimEnd(), disk.refusal.message);
    } finally {
      disk.remove();
    }
  }
});

test('on a full disk writes are refused and reads served, and writes succeed again once there is space', async () => {
  const disk = smallDisk(fresh(), 8 * 1024);
  try {
    const child = await startChild({ directory: disk.path, prefix: disk.prefix });
    const acknowledged: string[] = [];
    const make = async (name: string) => {
      const answer = await child.ask('POST', '/admin/organisations', {
        body: { owner_name: name, org_options_meta: { filler: 'x'.repeat(10_000) } },
      });
      if (answer.status === 200) acknowledged.push(answer.body.Meta);
      return answer;
    };
    for (let number = 0; number < 5; number++) assert.equal((await make(`Early ${number}`)).status, 200);

    disk.fill(child);
    let refused = await make('Full');
    for (let number = 0; refused.status === 200 && number < 1000; number++) refused = await make(`Late ${number}`);
    assert.ok(disk.refusal.statuses.includes(refused.status), refused.text);
    assert.match(refused.body.Message, disk.refusal.message);
    assert.ok(disk.refusal.statuses.includes((await make('Still full')).status));
    assert.equal(
      (await child.ask('GET', '/admin/organisations?p=-1')).body.organisations.length,
      acknowledged.length + 1,
    );
    assert.equal((await child.ask('GET', '/hello')).body.details.database.status, 'pass');

    disk.free(child);
    assert.equal((await make('Room again')).status, 200);
    await child.stop('SIGKILL');
    const again = await startChild({ directory: disk.path });
    const { body } = await again.ask('GET', '/admin/organisations?p=-1');
    const kept = new Set(body.organisations.map((it: { id: string }) => it.id));
    assert.deepEqual(
      acknowledged.filter(id => !kept.has(id)),
      [],
    );
    assert.equal(kept.size, acknowledged.length + 1);
    assert.equal((await again.stop()).code, 0);
  } finally {
    disk.remove();
  }
});
