import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Problem } from '#base/problems.ts';
import { startApp, type TestApp } from '../../tests/support/app.ts';
import { runHistoryCommand } from './history-command.ts';

describe('gw history and gw restore', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp('sqlite');
  });
  after(() => app?.close());

  async function run(args: string, environment: Record<string, string> = { GW_DATA_DIR: app.directory }) {
    let printed = '';
    const print = (text: string) => {
      printed += text;
    };
    await runHistoryCommand(args.split(' '), { environment, print });
    return printed;
  }
  async function expectError(args: string, message: RegExp, environment?: Record<string, string>): Promise<void> {
    await assert.rejects(run(args, environment), (error: unknown) => {
      assert.ok(error instanceof Problem, String(error));
      assert.match(error.message, message);
      return true;
    });
  }
  async function createGroup(): Promise<string> {
    const { body } = await app.ask('POST', '/api/usergroups', { body: group('first', 'read') });
    await app.ask('PUT', `/api/usergroups/${body.Meta}`, { body: group('second', 'write') });
    return body.Meta;
  }
  const group = (name: string, apis: string) => ({ name, user_permissions: { apis } });

  test('history lists revisions with author and changed members', async () => {
    const id = await createGroup();
    const [head, second, first] = (await run(`history usergroups ${id}`)).split('\n');
    assert.match(head!, /^REVISION +AT +ACTION +BY +FROM +CHANGED$/);
    assert.match(second!, /^2 .* updated .*127\.0\.0\.1 .*\/name \/user_permissions\/apis$/);
    assert.match(first!, /^1 .* created /);
    const listed = JSON.parse(await run(`history usergroups ${id} -o json`));
    assert.deepEqual([listed.length, listed[0].revision, listed[0].author.surface], [2, 2, 'dashboard']);
  });

  test('history shows one revision, and compares two', async () => {
    const id = await createGroup();
    const shown = await run(`history usergroups ${id} 1`);
    assert.match(shown, /^name: first$/m);
    const compared = await run(`history usergroups ${id} 1..2`);
    assert.equal(
      compared,
      '- /name: "first"\n+ /name: "second"\n- /user_permissions/apis: "read"\n+ /user_permissions/apis: "write"\n',
    );
  });

  test('restore restores a revision, also of a deleted object', async () => {
    const id = await createGroup();
    assert.equal(await run(`restore usergroups ${id} 1`), `revision 1 of ${id} restored\n`);
    assert.equal((await app.ask('GET', `/api/usergroups/${id}`)).body.name, 'first');
    await app.ask('DELETE', `/api/usergroups/${id}`);
    await run(`restore usergroups ${id} 2`);
    assert.equal((await app.ask('GET', `/api/usergroups/${id}`)).body.name, 'second');
  });

  test('wrong arguments, unknown objects and a wrong access key have one clear sentence', async () => {
    const id = await createGroup();
    assert.match(await run('history'), /^gw history: the revisions of apis/);
    await expectError(`history things ${id}`, /there is no kind things: use one of apis/);
    await expectError('history apis', /history needs KIND ID/);
    await expectError(`history usergroups ${id} x`, /a revision is a number/);
    await expectError(`restore usergroups ${id}`, /takes the number of a revision/);
    await expectError(`restore usergroups ${id} 9`, /There is no revision 9/);
    await expectError('history usergroups unknown', /not found/i);
    await expectError(`history usergroups ${id}`, /rejects the secret: set GW_ACCESS_KEY/, {
      GW_DATA_DIR: app.directory,
      GW_ACCESS_KEY: 'wrong',
    });
  });
});
