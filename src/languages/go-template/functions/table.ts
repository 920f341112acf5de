import { dateFunctions } from './dates.ts';
import { encodingFunctions } from './encoding.ts';
import type { TemplateFunction } from './fn.ts';
import { listFunctions } from './lists.ts';
import { logicFunctions } from './logic.ts';
import { mapFunctions } from './maps.ts';
import { numberFunctions } from './numbers.ts';
import { pathFunctions } from './paths.ts';
import { regexFunctions } from './patterns.ts';
import { printFunctions } from './print.ts';
import { randomFunctions } from './random.ts';
import { semverFunctions } from './semver.ts';
import { stringFunctions } from './strings.ts';
import { typeFunctions } from './types.ts';
import { xmlFunctions } from './xml-text.ts';

export { mutatingFunctions } from './maps.ts';

/**
 * Every function a template may call. Functions that read the environment, use the network, or compute certificates and
 * slow hashes are left out: a template runs within a request and sees only its data.
 */
export const functionTable: ReadonlyMap<string, TemplateFunction> = new Map(
  [
    logicFunctions,
    printFunctions,
    stringFunctions,
    numberFunctions,
    listFunctions,
    mapFunctions,
    typeFunctions,
    encodingFunctions,
    regexFunctions,
    dateFunctions,
    pathFunctions,
    semverFunctions,
    randomFunctions,
    xmlFunctions,
  ].flatMap(table => Object.entries(table)),
);
