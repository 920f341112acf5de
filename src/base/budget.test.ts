import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Budget, type BudgetLimit } from './budget.ts';

class TestBudget extends Budget {
  protected createLimitError(limit: BudgetLimit): Error {
    return new Error(limit);
  }
}

const createBudget = () => new TestBudget({ maxSteps: 10, maxDepth: 2, maxBytes: 100 });

describe('interpreter budget', () => {
  test('steps up to the bound are allowed, also fractions; the first one beyond throws', () => {
    const budget = createBudget();
    budget.spend(9.5);
    budget.spend(0.5);
    assert.throws(() => budget.spend(0.25), { message: 'steps' });
    assert.throws(() => budget.spend(0), { message: 'steps' });
  });

  test('a cost that is not a number throws', () => {
    assert.throws(() => createBudget().spend(Number.NaN), { message: 'steps' });
    assert.throws(() => createBudget().checkTextLength(Number.NaN), { message: 'bytes' });
  });

  test('calls nest up to the bound, and a call that ended frees its level', () => {
    const budget = createBudget();
    budget.enterCall();
    budget.enterCall();
    assert.throws(() => budget.enterCall(), { message: 'depth' });
    budget.leaveCall();
    budget.leaveCall();
    budget.enterCall();
  });

  test('a value nested beyond the bound, or text longer than it, throws', () => {
    const budget = createBudget();
    budget.checkDepth(2);
    assert.throws(() => budget.checkDepth(3), { message: 'depth' });
    budget.checkTextLength(100);
    assert.throws(() => budget.checkTextLength(101), { message: 'bytes' });
  });
});
