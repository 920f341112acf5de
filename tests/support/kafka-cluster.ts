import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { kcatProgram } from '../../tools/services.ts';

export interface KafkaCluster {
  /** Addresses of its brokers. */
  readonly addresses: readonly string[];
  produce(topic: string, messages: readonly string[], codec: string): Promise<void>;
  close(): Promise<void>;
}

/** A cluster of librdkafka: it lives in a producer, which waits for input. */
export async function startKafkaCluster(): Promise<KafkaCluster> {
  const owner = spawn(kcatProgram(), ['-P', '-b', 'none', '-X', 'test.mock.num.brokers=2', '-t', 'none'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const addresses = await new Promise<string[]>((resolve, reject) => {
    let text = '';
    owner.once('error', reject);
    owner.once('exit', () => reject(new Error(`kcat ended: ${text}`)));
    owner.stderr.on('data', (chunk: Buffer) => {
      text += chunk;
      const [, found] = /replaced with (\S+)\n/.exec(text) ?? [];
      if (found !== undefined) resolve(found.split(','));
    });
  });
  return {
    addresses,
    async produce(topic, messages, codec) {
      const child = spawn(kcatProgram(), ['-P', '-b', addresses[0]!, '-X', `compression.codec=${codec}`, '-t', topic], {
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      child.stdin.end(messages.map(it => `${it}\n`).join(''));
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error(`kcat ended with ${code}`);
    },
    async close() {
      owner.kill('SIGKILL');
      await once(owner, 'exit');
    },
  };
}
