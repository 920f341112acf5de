import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HeadParser } from './head-parser.ts';
import { FieldLines } from './write-message.ts';

/** Parses a request head of these lines. */
function parseLines(...lines: string[]) {
  const parser = new HeadParser('request', { maxHeaderBytes: 65_536, maxHeaders: 100 });
  const bytes = Buffer.from(['GET / HTTP/1.1', ...lines, '', ''].join('\r\n'), 'latin1');
  assert.equal(parser.parse(bytes, 0), bytes.length);
  return parser.fields;
}

function format(flat: readonly string[], parsed: Parameters<FieldLines['begin']>[0]): string {
  const lines = new FieldLines();
  lines.begin(parsed);
  for (let i = 0; i < flat.length; i += 2) lines.add(flat[i]!, flat[i + 1]!);
  return lines.end();
}

describe('field lines of a forwarded message', () => {
  const lines = ['Host: a', 'x-one: 1', 'Accept: */*', 'x-two: caf\xe9', 'Cookie: a=b'];

  test('unchanged lines are copied', () => {
    const { flat, parsed } = parseLines(...lines);
    assert.ok(parsed);
    assert.equal(format(flat, parsed), lines.map(line => `${line}\r\n`).join(''));
  });

  test('removed, changed, added and reordered lines are formatted from the list', () => {
    const { flat, parsed } = parseLines(...lines);
    const changed = [
      'x-one',
      '2',
      ...flat.slice(0, 2),
      ...flat.slice(4, 6),
      'New',
      'n',
      ...flat.slice(6),
      'x-one',
      '1',
    ];
    const expected = ['x-one: 2', 'Host: a', 'Accept: */*', 'New: n', 'x-two: caf\xe9', 'Cookie: a=b', 'x-one: 1'];
    assert.equal(format(changed, parsed), expected.map(line => `${line}\r\n`).join(''));
    assert.equal(format([], parsed), '');
    assert.equal(format(flat.slice(-2), parsed), 'Cookie: a=b\r\n');
  });

  test('every subset of the lines, with a line added anywhere, is formatted as without a parsed head', () => {
    const { flat, parsed } = parseLines(...lines);
    for (let subset = 0; subset < 2 ** lines.length; subset++)
      for (let added = 0; added <= lines.length; added++) {
        const list: string[] = [];
        for (let i = 0; i < lines.length; i++) {
          if (i === added) list.push('x-one', '1');
          if ((subset & (1 << i)) !== 0) list.push(flat[2 * i]!, flat[2 * i + 1]!);
        }
        assert.equal(format(list, parsed), format(list, undefined), `subset ${subset}, added ${added}`);
      }
  });

  test('a line is found behind many removed ones, or formatted', () => {
    const many = Array.from({ length: 40 }, (_none, n) => `x-${n}: ${n}`);
    const { flat, parsed } = parseLines(...many);
    for (let from = 0; from < flat.length; from += 2)
      assert.equal(format(flat.slice(from), parsed), format(flat.slice(from), undefined));
  });

  test('an invalid line is refused also where a parsed head is given', () => {
    const { flat, parsed } = parseLines(...lines);
    assert.throws(() => format([...flat, 'x', 'a\r\nb'], parsed), /is not a valid header/);
    assert.throws(() => format(['x y', 'a', ...flat], parsed), /is not a valid header/);
  });

  test('a head with other whitespace, or in parts, has no lines to copy', () => {
    for (const line of ['a:b', 'a:  b', 'a:\tb', 'a: b ', 'a:', 'a: b\t'])
      assert.equal(parseLines('Host: x', line).parsed, undefined, JSON.stringify(line));
    assert.ok(parseLines('Host: x', 'a: ').parsed);
    const parser = new HeadParser('request', { maxHeaderBytes: 65_536, maxHeaders: 100 });
    parser.parse(Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n'), 0);
    parser.parse(Buffer.from('a: b\r\n\r\n'), 0);
    assert.deepEqual(parser.fields.flat, ['Host', 'x', 'a', 'b']);
    assert.equal(parser.fields.parsed, undefined);
  });

  test('a Content-Length is the decimal number that was read', () => {
    const { parsed } = parseLines('Content-Length: 007');
    const writer = new FieldLines();
    writer.begin(parsed);
    writer.addLength('Content-Length', '007', 7);
    writer.addLength('Content-Length', '0', 0);
    assert.equal(writer.end(), 'Content-Length: 7\r\nContent-Length: 0\r\n');
  });
});
