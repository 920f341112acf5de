import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue } from '../../../catalogue.ts';
import { changeActions } from './change-actions.ts';

test('every action that the traffic chart marks is an operation that changes traffic', () => {
  const names = new Set<string>(catalogue.filter(it => it.changesTraffic).map(({ name }) => name));
  assert.deepEqual(
    changeActions.filter(action => !names.has(action)),
    [],
  );
});
