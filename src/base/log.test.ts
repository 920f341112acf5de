import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from './log.ts';

function collectLines(
  format: 'json' | 'text',
  use: (log: ReturnType<typeof createLog>) => void,
  level = 'info',
): string[] {
  const lines: string[] = [];
  use(createLog({ level, format, write: line => void lines.push(line) }));
  return lines;
}

test('a line is one JSON object with time, level and message', () => {
  const [line, ...rest] = collectLines('json', log => log.info({ port: 80 }, 'ready'));
  assert.equal(rest.length, 0);
  assert.match(line!, /\n$/);
  const { time, ...fields } = JSON.parse(line!);
  assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual(fields, { level: 'info', port: 80, msg: 'ready' });
});

test('lines below the level are not written', () => {
  const use = (log: ReturnType<typeof createLog>) => {
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
  };
  for (const [level, lines] of Object.entries({ debug: 4, info: 3, warn: 2, error: 1, silent: 0 }))
    assert.equal(collectLines('json', use, level).length, lines, level);
});

test('fields named like secrets are masked, one and two levels deep', () => {
  for (const name of ['authorization', 'cookie', 'password', 'secret', 'token', 'access_key', 'key_id']) {
    for (const format of ['json', 'text'] as const) {
      const line = collectLines(format, log => log.info({ [name]: 'canary', inner: { [name]: 'canary' } }, 'm')).join();
      assert.doesNotMatch(line, /canary/, name);
      assert.match(line, /\*\*\*/);
    }
  }
});

test('an error is logged with type, code, message, stack and causes only', () => {
  const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET', request: { headers: 'canary' } });
  const error = Object.assign(new TypeError('failed', { cause }), { detail: 'canary', config: { auth: 'canary' } });
  const line = collectLines('json', log => log.error({ err: error }, 'unexpected')).join();
  assert.doesNotMatch(line, /canary/);
  const { err } = JSON.parse(line);
  assert.deepEqual(
    [err.type, err.message, err.cause.code, err.cause.message],
    ['TypeError', 'failed', 'ECONNRESET', 'reset'],
  );
  assert.match(err.stack, /log\.test\.ts/);
});

test('a cyclic chain of causes is logged up to the bound', () => {
  const error = new Error('snake');
  error.cause = error;
  assert.match(collectLines('json', log => log.error({ err: error }, 'm')).join(), /snake/);
  assert.match(collectLines('json', log => log.error({ err: 'just text' }, 'm')).join(), /just text/);
});

test('the text format has time, level, message and fields', () => {
  const [line] = collectLines('text', log =>
    log.warn({ host: 'a.example', count: 2, odd: 'two words' }, 'slow answer'),
  );
  assert.match(line!, /^\S+Z warn {2}slow answer host=a\.example count=2 odd="two words"\n$/);
});

test('untrusted text cannot forge a second line, another field or a terminal command', () => {
  const [line] = collectLines('text', log =>
    log.info(
      { path: 'a\n2026 error forged', name: 'x admin=true', esc: '\u001b[2J\u009b', bell: '\u2028' },
      'one\ntwo',
    ),
  );
  assert.equal(line!.trimEnd().split(/[\n\r\u2028]/).length, 1);
  assert.match(line!, /name="x admin=true"/);
  assert.doesNotMatch(line!.trimEnd(), /\p{Cc}/u);
});
