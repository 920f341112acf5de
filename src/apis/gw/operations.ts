import { apiStatusOperations } from '../status/operations.ts';
import { gwClassicOperations } from './classic-operations.ts';
import { gwFileOperations } from './file-operations.ts';
import { gwNodeOperations } from './node-operations.ts';
import { gwOasOperations } from './oas-operations.ts';

export const gwApiOperations = [
  ...gwClassicOperations,
  ...gwOasOperations,
  ...gwFileOperations,
  ...gwNodeOperations,
  ...apiStatusOperations,
];
