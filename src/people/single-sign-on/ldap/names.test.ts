import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { escapeNameValue, fillBindName, toNameKey } from './names.ts';

describe('LDAP names', () => {
  test('names that a directory compares as equal have one key', () => {
    const equal = [
      ['ann', 'ANN', ' ann ', '\uff41nn', '\u{1d41a}nn', 'a\u200bnn', 'a\u00adnn', 'a\u0301nn', '\u00e1nn'],
      ['ann lee', 'Ann  Lee', 'ann\u00a0lee', 'ann\tlee'],
      ['strasse', 'stra\u00dfe', 'STRASSE'],
    ];
    for (const [first, ...others] of equal)
      for (const name of others) assert.equal(toNameKey(name), toNameKey(first!), JSON.stringify(name));
    assert.notEqual(toNameKey('ann lee'), toNameKey('annlee'));
  });

  test('values of a distinguished name are escaped, and other templates take plain names only', () => {
    assert.equal(escapeNameValue(' a,b+c '), '\\ a\\,b\\+c\\ ');
    assert.equal(fillBindName('uid=*USERNAME*,dc=x', 'a,b'), 'uid=a\\,b,dc=x');
    assert.equal(fillBindName('*USERNAME*@x', 'ann'), 'ann@x');
    assert.equal(fillBindName('*USERNAME*@x', 'a@y'), undefined);
  });
});
