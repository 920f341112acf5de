import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parsePointerFragment, pointerOfMemberPath, toJsonPointer } from './json-pointer.ts';
import { formatMemberPath } from './members.ts';

describe('JSON pointers', () => {
  test('slashes and tildes in names are escaped', () => {
    assert.equal(toJsonPointer(['paths', '/a~b', 'get', 0]), '/paths/~1a~0b/get/0');
    assert.equal(toJsonPointer([]), '');
  });

  test('a fragment is percent-decoded before its escapes', () => {
    assert.deepEqual(parsePointerFragment('paths/~1a%7E1b/%C3%BC/100%'), ['paths', '/a/b', 'ü', '100%']);
    assert.deepEqual(parsePointerFragment('~01'), ['~1']);
  });

  test('a member path becomes the pointer of the same member', () => {
    for (const [path, pointer] of [
      ['', ''],
      ['name', '/name'],
      ['proxy.target_list[2]', '/proxy/target_list/2'],
      ['paths["/a b"].get', '/paths/~1a b/get'],
      ['paths./pets.get', '/paths/~1pets/get'],
      ['x["a\\"]b"][0]', '/x/a"]b/0'],
    ] as const)
      assert.equal(pointerOfMemberPath(path, {}), pointer, path);
  });

  test('a name with a dot is found in the document', () => {
    const document = { versions: { 'v1.2': { name: 'x' } } };
    assert.equal(pointerOfMemberPath('versions.v1.2.name', document), '/versions/v1.2/name');
    assert.equal(pointerOfMemberPath('versions.v1.3.name', document), '/versions/v1/3/name');
  });

  test('every formatted member path becomes the pointer of its segments', () => {
    const segment = fc.oneof(fc.string({ minLength: 1 }), fc.nat(50));
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 5 }), segments => {
        assert.equal(pointerOfMemberPath(formatMemberPath(segments), {}), toJsonPointer(segments));
      }),
    );
  });
});
