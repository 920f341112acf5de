import { pointerOfMemberPath } from '#base/json-pointer.ts';
import type { Problem } from '#base/problems.ts';
import { extensionName } from '#definition/document-members.ts';
import { type LintRule, lintModel } from '#definition/lint-rules.ts';
import type { Model } from '#definition/model.ts';
import { problem as operationProblem } from '#operations/problems.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import type { ApiKind } from '../api/schema.ts';
import { problem } from '../problems.ts';
import type { PersistedFault } from './persisted-operations.ts';

interface ReportedPlace {
  readonly pointer: string;
  readonly path: string;
  readonly message: string;
}

interface ReportedFault extends ReportedPlace {
  readonly code: string;
}

interface ReportedWarning extends ReportedPlace {
  readonly rule: string;
  readonly level: LintRule['level'];
}

/** Bound of a report; a definition has at most 200 validation errors. */
const maxReported = 500;

/** Member that a problem of a write is about, in each format. */
const members: Readonly<Record<string, readonly [classic: string, oas: string]>> = {
  [problem.id_exists.code]: ['api_id', `${extensionName}.info.id`],
  [problem.path_exists.code]: ['proxy.listen_path', `${extensionName}.server.listenPath.value`],
  [problem.route_taken.code]: ['proxy.listen_path', `${extensionName}.server.listenPath.value`],
  [problem.too_many_routes.code]: ['proxy.listen_path', `${extensionName}.server.listenPath.value`],
  [problem.path_not_granted.code]: ['proxy.listen_path', `${extensionName}.server.listenPath.value`],
  [problem.domain_not_granted.code]: ['domain', `${extensionName}.server.customDomain.name`],
  [problem.name_taken.code]: ['name', `${extensionName}.info.name`],
};
/** Problems whose detail holds the path, which their message repeats. */
const withPath: readonly string[] = [
  problem.other_id.code,
  problem.reference_open.code,
  problem.reference_not_owned.code,
];

/** Collects the faults and warnings of one definition, each with the place of its member. */
export function createCheckReport(kind: ApiKind, definition: unknown) {
  const faults: ReportedFault[] = [];
  const warnings: ReportedWarning[] = [];
  const locate = ({ path, message }: ValidationError): ReportedPlace => ({
    pointer: pointerOfMemberPath(path, definition),
    path,
    message,
  });
  const addFault = (code: string, error: ValidationError) => {
    if (faults.length < maxReported) faults.push({ code, ...locate(error) });
  };
  const addWarning = (rule: string, level: LintRule['level'], error: ValidationError) => {
    if (warnings.length < maxReported) warnings.push({ rule, level, ...locate(error) });
  };
  const addErrors = (errors: readonly ValidationError[]) => {
    for (const error of errors) addFault(operationProblem.invalid.code, error);
  };

  return {
    addErrors,
    addProblem({ code, message, detail }: Problem): void {
      if (code === operationProblem.invalid.code) return addErrors(detail.errors as readonly ValidationError[]);
      const named = withPath.includes(code) ? String(detail.path) : undefined;
      const path = named ?? members[code]?.[kind === 'classic' ? 0 : 1] ?? '';
      addFault(code, { path, message: named === undefined ? message : message.replace(`${named}: `, '') });
    },
    addMemberWarnings(found: readonly ValidationError[]): void {
      for (const error of found) addWarning('member_without_effect', 'warning', error);
    },
    addLint(model: Model): void {
      for (const { rule, level, path, message } of lintModel(model)) addWarning(rule, level, { path, message });
    },
    addPersistedFaults(found: readonly PersistedFault[]): void {
      for (const { rule, ...error } of found) addWarning(rule, 'warning', error);
    },
    addUnsupported(features: readonly string[]): void {
      for (const feature of features)
        addWarning('feature_not_offered', 'warning', {
          path: '',
          message: `The gateway does not offer ${feature}: requests to the API get 503`,
        });
    },
    finish: () => ({ valid: faults.length === 0, faults, warnings }),
  };
}
