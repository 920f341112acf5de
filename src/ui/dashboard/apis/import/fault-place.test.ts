import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { placeFault } from './fault-place.ts';

const text = `openapi: 3.0.3
paths:
  /v1.2/pets:
    get:
      responses: none
`;
const place = (message: string) => placeFault(text, parse(text), message);

describe('Place of a fault in a description', () => {
  test('a path of the server becomes a pointer and a line, also where names contain dots', () => {
    assert.equal(
      place('paths./v1.2/pets.get.responses: must be an object'),
      '/paths/~1v1.2~1pets/get/responses (line 5): must be an object',
    );
  });

  test('a missing member has the line of its object, and a message without a path stays as it is', () => {
    assert.equal(place('paths./v1.2/pets.get.tags: is required'), '/paths/~1v1.2~1pets/get/tags (line 5): is required');
    assert.equal(place('The server cannot be reached'), 'The server cannot be reached');
  });
});
