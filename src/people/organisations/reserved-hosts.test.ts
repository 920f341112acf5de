import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createReservedHosts, hasHostOverlap, isHostGranted, noReservedHosts } from './reserved-hosts.ts';

describe('reserved hosts', () => {
  const reserved = createReservedHosts([
    { orgId: 'one', domains: ['a.example', '*.b.example'] },
    { orgId: 'two', domains: ['*.deep.b.example', 'a.example'] },
    { orgId: 'any', domains: ['*'] },
  ]);

  test('a host belongs to the owners of the longest reserved name, and to none where no name matches', () => {
    assert.equal(reserved.size, 3);
    const rows: [host: string, owners: string[] | undefined][] = [
      ['a.example', ['one', 'two']],
      ['x.a.example', undefined],
      ['b.example', undefined],
      ['x.b.example', ['one']],
      ['x.y.b.example', ['one']],
      ['x.deep.b.example', ['two']],
      ['*.deep.b.example', ['two']],
      ['other.example', undefined],
    ];
    for (const [host, owners] of rows) {
      const found = reserved.ownersOf(host);
      assert.deepEqual(found && [...found], owners, host);
    }
    assert.equal(noReservedHosts.ownersOf('a.example'), undefined);
  });

  test('an organisation may use hosts of its domains that no other one reserves by a longer name', () => {
    const rows: [orgId: string, domains: string[], host: string, isGranted: boolean][] = [
      ['one', ['a.example', '*.b.example'], 'a.example', true],
      ['one', ['a.example', '*.b.example'], 'x.b.example', true],
      ['one', ['a.example', '*.b.example'], 'b.example', false],
      ['one', ['a.example', '*.b.example'], 'x.deep.b.example', false],
      ['one', ['a.example', '*.b.example'], '*.b.example', true],
      ['one', ['a.example', '*.b.example'], 'other.example', false],
      ['any', ['*'], 'other.example', true],
      ['any', ['*'], 'a.example', false],
      ['any', [], 'other.example', false],
    ];
    for (const [orgId, domains, host, isGranted] of rows)
      assert.equal(isHostGranted(reserved, { orgId, domains }, host), isGranted, `${orgId} ${host}`);
    assert.ok(isHostGranted(noReservedHosts, { orgId: 'any', domains: ['*'] }, 'other.example'));
  });

  test('a route without a host or with a pattern does not overlap hosts that others reserve', () => {
    const rows: [host: string, orgId: string, other: string, otherOrgId: string, overlaps: boolean][] = [
      ['', 'any', 'a.example', 'one', false],
      ['', 'one', 'a.example', 'two', true],
      ['', 'any', 'other.example', 'one', true],
      ['a.example', 'any', 'a.example', 'one', true],
      ['a.example', 'one', '', 'any', false],
      ['a.example', 'one', 'other.example', 'one', false],
    ];
    for (const [host, orgId, other, otherOrgId, overlaps] of rows)
      assert.equal(
        hasHostOverlap(reserved, { orgId, host }, { orgId: otherOrgId, host: other }),
        overlaps,
        `${orgId} ${host} and ${otherOrgId} ${other}`,
      );
  });
});
