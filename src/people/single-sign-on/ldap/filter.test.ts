import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeElements } from './ber.ts';
import { encodeFilter, LdapFilterError, parseLdapFilter } from './filter.ts';
import { escapeNameValue, fillBindName } from './names.ts';

describe('LDAP filters', () => {
  test('every kind of condition is encoded with its tag (RFC 4511, section 4.5.1)', () => {
    const tags: Record<string, number> = {
      '(&(uid=*USERNAME*)(objectClass=person))': 0xa0,
      '(|(uid=*USERNAME*)(mail=*USERNAME*))': 0xa1,
      '(!(uid=*USERNAME*))': 0xa2,
      '(uid=*USERNAME*)': 0xa3,
      '(uid=a*USERNAME*b)': 0xa3,
      '(uid=x*y)': 0xa4,
      '(age>=5)': 0xa5,
      '(age<=5)': 0xa6,
      '(uid=*)': 0x87,
      '(cn~=ann)': 0xa8,
    };
    for (const [text, tag] of Object.entries(tags)) {
      const [element, ...rest] = decodeElements(encodeFilter(parseLdapFilter(text), 'ann'));
      assert.deepEqual([element!.tag, rest.length], [tag, 0], text);
    }
  });

  test('a user name is always one value, whatever it contains', () => {
    const filter = parseLdapFilter('(&(objectClass=person)(uid=*USERNAME*))');
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom('*', ')(uid=*', '\\2a', '$&', '*USERNAME*')), name => {
        const [and] = decodeElements(encodeFilter(filter, name));
        const [, equal] = decodeElements(and!.content);
        const [attribute, value, ...rest] = decodeElements(equal!.content);
        assert.deepEqual([equal!.tag, attribute!.content.toString(), rest.length], [0xa3, 'uid', 0]);
        assert.equal(value!.content.toString(), Buffer.from(name).toString());
      }),
    );
  });

  test('escapes of a value are decoded, and a malformed filter is refused', () => {
    const [element] = decodeElements(encodeFilter(parseLdapFilter('(cn=a\\2a\\28b\\c3\\a9)'), ''));
    assert.equal(decodeElements(element!.content)[1]!.content.toString(), 'a*(bé');
    for (const text of [
      '',
      'uid=ann',
      '(uid=ann',
      '(uid=ann))',
      '()',
      '(&)',
      '(uid)',
      '(=x)',
      '(uid=a(b)',
      '(uid=a\\zz)',
      '(uid=\\00)',
      '(uid=\u0000)',
      `${'(!'.repeat(50)}(a=b)${')'.repeat(50)}`,
      `(a=${'x'.repeat(3000)})`,
    ])
      assert.throws(() => parseLdapFilter(text), LdapFilterError, text);
  });
});

describe('Names of LDAP binds', () => {
  test('a value is escaped for a distinguished name (RFC 4514, section 2.4)', () => {
    assert.equal(escapeNameValue('a,b+c"d\\e<f>g;h=i#'), 'a\\,b\\+c\\"d\\\\e\\<f\\>g\\;h\\=i\\#');
    assert.equal(escapeNameValue(' a '), '\\ a\\ ');
    assert.equal(fillBindName('uid=*USERNAME*,dc=x', 'a,dc=y$&'), 'uid=a\\,dc\\=y$&,dc=x');
  });

  test('a name that is no distinguished name takes plain user names only', () => {
    assert.equal(fillBindName('*USERNAME*@example.org', 'ann'), 'ann@example.org');
    for (const name of ['ann@evil.example', 'a b', 'cn=x', ''])
      assert.equal(fillBindName('*USERNAME*@x', name), undefined);
  });
});
