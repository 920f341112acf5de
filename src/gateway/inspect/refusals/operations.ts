import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { refusals } from '../../pipeline/refusals.ts';

const listed = Object.entries(refusals).map(([code, { status, message, about }]) => ({ code, status, message, about }));

export const listRefusals = operation({
  surface: 'dashboard',
  noun: 'explanation',
  name: 'listRefusals',
  method: 'GET',
  path: '/api/refusals',
  about: 'Lists the codes of refusals in logs and analytics: the response of each, and its meaning.',
  permission: 'any user',
  returns: z.object({
    refusals: z.array(
      z.object({
        code: z.string(),
        status: z.int(),
        message: z.string().describe('In the response, where no error override replaces it'),
        about: z.string().describe('Reason of the refusal'),
      }),
    ),
  }),
  handle: async () => ({ refusals: listed }),
});

export const refusalOperations = [listRefusals];
