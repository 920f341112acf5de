import type { HttpCase } from './case.ts';
import { directiveCases } from './directive-cases.ts';
import { freshnessCases } from './freshness-cases.ts';
import { storageCases } from './storage-cases.ts';
import { validationCases } from './validation-cases.ts';

export const httpCases: readonly HttpCase[] = [
  ...storageCases,
  ...freshnessCases,
  ...validationCases,
  ...directiveCases,
];
