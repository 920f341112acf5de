import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatIsoTime } from '#base/clock.ts';
import { hashPassword } from '#base/passwords.ts';
import { readSettings } from '#base/settings.ts';
import { createPasswordChange, isPasswordExpired } from './new-password.ts';
import { buildUser } from './schema.ts';

const dayMs = 86_400_000;
const updatedMs = Date.parse('2026-01-01T00:00:00Z');
const write = { email_address: 'ann@example.org', first_name: 'A', last_name: 'B' };
const user = {
  ...buildUser({ id: 'u', accessKey: 'k', orgId: 'o', createdAt: formatIsoTime(updatedMs), write }),
  password_updated: formatIsoTime(updatedMs),
};
const createServices = (flags: Record<string, string>, nowMs: number) => ({
  settings: readSettings({ flags }),
  clock: { now: () => nowMs },
});

describe('Password ageing', () => {
  const isExpired = (days: { own?: number; group?: number; setting?: number }, ageMs: number) =>
    isPasswordExpired(
      { ...user, password_max_days: days.own ?? 0 },
      days.group === undefined ? undefined : { password_max_days: days.group },
      createServices({ 'users.password_max_days': String(days.setting ?? 0) }, updatedMs + ageMs),
    );

  test('a password expires after its maximum age, not at it', () => {
    assert.deepEqual([isExpired({ own: 1 }, dayMs), isExpired({ own: 1 }, dayMs + 1)], [false, true]);
  });

  test('the limit of the user counts before that of the group, and that before the setting; 0 means the next one', () => {
    assert.equal(isExpired({ own: 3, group: 1, setting: 1 }, 2 * dayMs), false);
    assert.equal(isExpired({ own: 1, group: 3, setting: 3 }, 2 * dayMs), true);
    assert.equal(isExpired({ group: 3, setting: 1 }, 2 * dayMs), false);
    assert.equal(isExpired({ group: 1, setting: 3 }, 2 * dayMs), true);
    assert.equal(isExpired({ group: 0, setting: 1 }, 2 * dayMs), true);
    assert.equal(isExpired({ setting: 1 }, 2 * dayMs), true);
    assert.equal(isExpired({ group: 0 }, 1000 * dayMs), false);
  });
});

describe('Password history', () => {
  const lowCost = { N: 2, r: 1, p: 1 };

  test('the last passwords are refused, earlier ones are not, and the history has its bound', async () => {
    const [first, second, third] = await Promise.all(
      ['one one', 'two two', 'six six'].map(it => hashPassword(it, lowCost)),
    );
    const aged = { ...user, password: third!, password_history: [second!, first!] };
    const services = createServices({ 'users.password_history': '2' }, updatedMs + dayMs);
    for (const password of ['two two', 'six six'])
      await assert.rejects(createPasswordChange(services, aged, password), /may not be one of the last 2/);
    const change = await createPasswordChange(services, aged, 'one one');
    assert.deepEqual(change.password_history, [third, second]);
    assert.equal(change.password_updated, formatIsoTime(updatedMs + dayMs));
    assert.ok(![first, second, third].includes(change.password));
  });

  test('a user without a password has no history', async () => {
    const services = createServices({ 'users.password_history': '2' }, updatedMs);
    assert.deepEqual((await createPasswordChange(services, user, 'one one')).password_history, []);
  });
});
