import type {
  BatchFetchNode,
  ConditionNode,
  FetchNode,
  FlattenNode,
  FlattenNodePathSegment,
  OutputRewrite,
  PlanNode,
} from '@graphql-hive/router-query-planner';
import { isObject, type JsonObject } from '#base/json-tree.ts';
import type { DataSource } from '#definition/data-graph/data-source.ts';
import type { OperationRun } from '../engine/operation-run.ts';
import { SourceError } from '../engine/source-error.ts';
import type { BuildSourceRequest } from '../engine/source-request.ts';
import type { ResponseBounds } from '../engine/source-response.ts';
import { collectRepresentations, type Representations } from './representations.ts';
import { restoreAliases } from './response-keys.ts';
import { copyTree, findPlaces, listPlacePath, listStaticPath, mergeInto } from './response-tree.ts';
import { applyRewrites } from './rewrites.ts';
import { readSubgraphResponse, type SubgraphError, type SubgraphReply } from './subgraph-response.ts';
import type { MatchType } from './type-conditions.ts';

/** A subgraph, and how its requests are built. */
export interface Subgraph {
  readonly source: DataSource;
  readonly build: BuildSourceRequest;
}

export interface PlanOptions {
  readonly subgraphs: ReadonlyMap<string, Subgraph>;
  readonly match: MatchType;
  readonly responseBounds: ResponseBounds;
  /** Sends all entities of a fetch in one request. */
  readonly batchesEntities: boolean;
  /** Headers beside those of the definition. */
  listHeaders(run: Pick<OperationRun, 'call'>): readonly string[];
}

/** One part of a response with entities: its alias in it, and the representations that were sent. */
interface EntityPart {
  readonly alias: string;
  readonly path: readonly FlattenNodePathSegment[];
  readonly sent: Representations;
  readonly outputRewrites: readonly OutputRewrite[] | undefined;
}

type Variables = Readonly<Record<string, unknown>>;

/**
 * Executes a query plan: fetches of subgraphs one after another or in parallel, merged into one tree. A failed fetch is
 * an error of the result, and what depends on it is not fetched. A class: one is created per operation.
 */
export class PlanRun {
  readonly data: JsonObject = {};
  readonly errors: SubgraphError[] = [];
  readonly #run: OperationRun;
  readonly #variables: Variables;
  readonly #options: PlanOptions;
  /** Of a subscription: what its subgraph sent. */
  readonly #event: SubgraphReply | undefined;

  constructor(run: OperationRun, variables: Variables, options: PlanOptions, event?: SubgraphReply) {
    this.#event = event;
    this.#run = run;
    this.#variables = variables;
    this.#options = options;
  }

  async execute(node: PlanNode): Promise<void> {
    if (this.#run.stopReason !== '') return;
    switch (node.kind) {
      case 'Sequence':
        for (const it of node.nodes) await this.execute(it);
        return;
      case 'Parallel':
        await Promise.all(node.nodes.map(it => this.execute(it)));
        return;
      case 'Condition':
        return this.#executeCondition(node);
      case 'Subscription':
        return this.#mergeRoot(node.primary, this.#event!);
      case 'Fetch':
        return this.#fetchRoot(node);
      case 'Flatten':
        return this.#fetchEntities(node);
      case 'BatchFetch':
        return this.#fetchBatch(node);
      default:
        throw new Error(`plan with an unknown node: ${node.kind}`);
    }
  }

  async #executeCondition({ condition, ifClause, elseClause }: ConditionNode): Promise<void> {
    const next = this.#variables[condition] === true ? ifClause : elseClause;
    if (next) await this.execute(next);
  }

  async #fetchRoot(node: FetchNode): Promise<void> {
    if (node.operationKind === 'mutation') this.#run.forgetResponses();
    const reply = await this.#send(node, {}, []);
    if (reply) this.#mergeRoot(node, reply);
  }

  #mergeRoot(node: FetchNode, reply: SubgraphReply): void {
    for (const error of reply.errors) this.#addError(error, error.path);
    if (!reply.data) return;
    // A response that equal requests share is read by each of them.
    const data = copyTree(reply.data, count => this.#run.chargeNames(0, count)) as JsonObject;
    applyRewrites(data, node.outputRewrites, this.#options.match);
    mergeInto(this.data, data);
  }

  async #fetchEntities({ path, node }: FlattenNode): Promise<void> {
    if (node.kind !== 'Fetch') throw new Error(`plan with ${node.kind} below Flatten`);
    const { match, batchesEntities } = this.#options;
    const sent = collectRepresentations(
      findPlaces(this.data, path, match),
      node.requires ?? [],
      node.inputRewrites,
      match,
    );
    const batches = batchesEntities ? [sent] : splitRepresentations(sent);
    // Each request has the text of the operation: those beyond the bound are not even built.
    const excess = batchesEntities ? undefined : this.#run.findRequestExcess(batches.length);
    if (excess !== undefined) {
      this.#addError({ message: excess, path: [], extensions: undefined }, listStaticPath(path));
      return;
    }
    const fetchOne = async (part: Representations) => {
      if (part.values.length === 0 || this.#run.stopReason !== '') return;
      const reply = await this.#send(node, { representations: part.values }, listStaticPath(path));
      const { outputRewrites } = node;
      if (reply) this.#receive(reply, [{ alias: '_entities', path, sent: part, outputRewrites }]);
    };
    await Promise.all(batches.map(fetchOne));
  }

  async #fetchBatch(node: BatchFetchNode): Promise<void> {
    const { match } = this.#options;
    const representations: Record<string, unknown> = {};
    const parts: EntityPart[] = node.entityBatch.aliases.map(it => {
      const places = it.paths.flatMap(path => findPlaces(this.data, path, match));
      const sent = collectRepresentations(places, it.requires, it.inputRewrites, match);
      representations[it.representationsVariableName] = sent.values;
      return { alias: it.alias, path: it.paths[0] ?? [], sent, outputRewrites: it.outputRewrites };
    });
    if (parts.every(({ sent }) => sent.values.length === 0)) return;
    const [first] = parts;
    const reply = await this.#send(node, representations, parts.length === 1 ? listStaticPath(first!.path) : []);
    if (reply) this.#receive(reply, parts);
  }

  /** Merges entities into all their places; errors of one are errors at each of them. */
  #receive({ data, errors }: SubgraphReply, parts: readonly EntityPart[]): void {
    for (const { alias, sent, outputRewrites } of parts) {
      const entities = data?.[alias];
      if (!Array.isArray(entities)) continue;
      for (const [at, places] of sent.places.entries()) {
        const entity = entities[at];
        if (!isObject(entity)) continue;
        for (const place of places) {
          const copy = copyTree(entity, count => this.#run.chargeNames(0, count)) as JsonObject;
          applyRewrites(copy, outputRewrites, this.#options.match);
          mergeInto(place.value as JsonObject, copy);
        }
      }
    }
    for (const error of errors) {
      const [alias, at, ...below] = error.path;
      const part = parts.find(it => it.alias === alias);
      const places = part && typeof at === 'number' ? part.sent.places[at] : undefined;
      if (places) for (const place of places) this.#addError(error, [...listPlacePath(place), ...below]);
      else this.#addError(error, listStaticPath((part ?? parts[0]!).path));
    }
  }

  #addError({ message, extensions }: SubgraphError, plannedPath: readonly (string | number)[]): void {
    const path = restoreAliases(plannedPath);
    this.#run.chargeError({ message, path });
    if (extensions) this.#run.chargeLeaf(extensions);
    this.errors.push({ message, path, extensions });
  }

  /** Undefined for a failed request, whose error is added at `path`. */
  async #send(
    { serviceName, operation, variableUsages = [], operationKind }: FetchNode | BatchFetchNode,
    representations: Variables,
    path: readonly string[],
  ): Promise<SubgraphReply | undefined> {
    const { subgraphs, responseBounds, batchesEntities } = this.#options;
    const { source, build } = subgraphs.get(serviceName)!;
    const variables: Record<string, unknown> = { ...representations };
    for (const name of variableUsages)
      if (Object.hasOwn(this.#variables, name)) variables[name] = this.#variables[name];
    const scope = { call: this.#run.call, args: {}, parent: undefined };
    try {
      const request = build(scope, { query: operation, variables });
      const headers = [...request.headers, ...this.#options.listHeaders(this.#run)];
      const isShared = operationKind !== 'mutation' && batchesEntities;
      const read = (response: Parameters<typeof readSubgraphResponse>[1]) =>
        readSubgraphResponse(source, response, responseBounds);
      return await this.#run.fetch({ ...request, headers }, read, isShared);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      this.#addError({ message: error.message, path, extensions: undefined }, path);
      return undefined;
    }
  }
}

const splitRepresentations = ({ values, places }: Representations): Representations[] =>
  values.map((value, at) => ({ values: [value], places: [places[at]!] }));
