import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { classicToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import type { ChainStep, StepReads } from '../pipeline/step.ts';
import { lazyAuthSteps, lazyContentSteps, lazyProtocolSteps } from './lazy-steps.ts';

interface DeclaredStep {
  readonly name: string;
  readonly reads?: StepReads;
}

const isStep = (value: unknown): value is DeclaredStep =>
  typeof value === 'object' && value !== null && 'name' in value && 'build' in value;

async function listSteps(): Promise<DeclaredStep[]> {
  const cwd = join(import.meta.dirname, '..');
  const files = globSync(['steps/*.ts', 'auth/*.ts', 'graphql/*.ts'], { cwd, exclude: ['**/*.test.ts'] });
  const modules = await Promise.all(files.map(file => import(join(cwd, file)) as Promise<Record<string, unknown>>));
  return modules.flatMap(it => Object.values(it)).filter(isStep);
}

const lazySteps = [lazyAuthSteps, lazyProtocolSteps, lazyContentSteps].flatMap(
  group => Object.values(group) as ChainStep<unknown>[],
);

describe('lazy steps', () => {
  test('a definition without features loads the code of no lazy step', () => {
    const model = classicToModel({ api_id: 'one' } as unknown as ClassicDefinition);
    const loaded: string[] = [];
    const hooks = registerHooks({
      load(url, context, nextLoad) {
        loaded.push(url);
        return nextLoad(url, context);
      },
    });
    for (const step of lazySteps)
      assert.equal(step.build({ model, version: model.versions[0]!, services: {} }), undefined, step.name);
    hooks.deregister();
    assert.deepEqual(loaded, []);
  });

  test('every lazy step has the name and the parts of the step that it loads', async () => {
    const steps = await listSteps();
    for (const { name, reads } of lazySteps) {
      const loaded = steps.filter(step => step.name === name);
      assert.equal(loaded.length, 1, name);
      assert.deepEqual(loaded[0]!.reads, reads, name);
    }
  });
});
