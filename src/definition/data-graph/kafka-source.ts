import { z } from 'zod';
import type { ValidationError } from '#operations/validation-error.ts';

/** Topics of a Kafka cluster whose messages are events of a subscription. */
export interface KafkaSource {
  readonly brokers: readonly { readonly host: string; readonly port: number }[];
  readonly topics: readonly string[];
  readonly clientId: string;
  readonly startsAt: 'oldest' | 'next';
  readonly isCommittedOnly: boolean;
  /** User and password may name secrets. */
  readonly sasl: { readonly user: string; readonly password: string } | undefined;
}

const maxBrokers = 16;
const maxTopics = 16;
const balanceStrategies = ['', 'BalanceStrategyRange', 'BalanceStrategySticky', 'BalanceStrategyRoundRobin'] as const;

/** Members of consumer groups are read: there is no group, every subscription gets every message. */
export const kafkaConfig = z.object({
  broker_addresses: z.array(z.string()).min(1).max(maxBrokers),
  topics: z.array(z.string()).min(1).max(maxTopics),
  group_id: z.string().default(''),
  client_id: z.string().default(''),
  kafka_version: z.string().default(''),
  start_consuming_latest: z.boolean().default(false),
  balance_strategy: z.enum(balanceStrategies).default(''),
  isolation_level: z.enum(['', 'ReadUncommitted', 'ReadCommitted']).default(''),
  sasl: z
    .object({ enable: z.boolean().default(false), user: z.string().default(''), password: z.string().default('') })
    .prefault({}),
});

const addressPattern = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+)):(\d{1,5})$/i;
/** Kafka refuses any other name of a topic. */
const topicPattern = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/;

export function toKafkaSource(
  config: z.output<typeof kafkaConfig>,
  place: string,
  errors: ValidationError[],
): KafkaSource {
  const report = (member: string, message: string) => errors.push({ path: `${place}.${member}`, message });
  const brokers = config.broker_addresses.flatMap((address, at) => {
    const [, bracketed, name, port = '0'] = addressPattern.exec(address) ?? [];
    const host = bracketed ?? name;
    if (host !== undefined && Number(port) >= 1 && Number(port) <= 65_535) return [{ host, port: Number(port) }];
    report(
      `broker_addresses[${at}]`,
      `${JSON.stringify(address)} is not a host and a port, such as kafka.example:9092`,
    );
    return [];
  });
  for (const [at, topic] of config.topics.entries())
    if (!topicPattern.test(topic)) report(`topics[${at}]`, `${JSON.stringify(topic)} is not the name of a topic`);
  const { enable, user, password } = config.sasl;
  if (enable && user === '') report('sasl.user', 'is required with sasl.enable');
  return {
    brokers,
    topics: [...new Set(config.topics)],
    clientId: config.client_id,
    startsAt: config.start_consuming_latest ? 'next' : 'oldest',
    isCommittedOnly: config.isolation_level === 'ReadCommitted',
    sasl: enable ? { user, password } : undefined,
  };
}
