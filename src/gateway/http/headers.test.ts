import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeaderList, removeConnectionHeaders } from './headers.ts';

test('headers that Connection names are removed, protected ones stay', () => {
  const headers = new HeaderList(['X-One', '1', 'Host', 'h', 'x-two', '2', 'X-Three', '3', 'x-one', '4']);
  removeConnectionHeaders(headers, 'close, X-ONE , x-two,host');
  assert.deepEqual(headers.flat, ['Host', 'h', 'X-Three', '3']);
});

test('any number of Connection options walks the headers once', () => {
  const headers = new HeaderList(Array.from({ length: 400 }, (_, n) => (n % 2 === 0 ? `x-${n}` : 'v')));
  let walks = 0;
  const counted = new Proxy(headers, {
    get(target, name) {
      if (name === 'flat') walks++;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(counted) : value;
    },
  });
  removeConnectionHeaders(counted, `${'b,'.repeat(30_000)}x-0`);
  assert.equal(headers.has('x-0'), false);
  assert.ok(walks <= 1, `${walks} walks`);
});
