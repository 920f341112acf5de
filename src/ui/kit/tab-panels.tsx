import { Tabs as Primitive } from 'radix-ui';
import type { ReactNode } from 'react';

export interface TabPanel {
  readonly id: string;
  readonly label: string;
  readonly content: ReactNode;
}

export interface TabPanelsProps {
  /** Accessible name of the list of tabs. */
  readonly label: string;
  readonly panels: readonly TabPanel[];
  readonly value: string;
  onChange(id: string): void;
}

const tab =
  'shrink-0 border-b-2 border-transparent px-1 py-2 text-dim hover:text-ink data-[state=active]:border-accent ' +
  'data-[state=active]:text-ink';

/** Views of one thing inside of a page. Tabs of an object that have an address are links. */
export const TabPanels = ({ label, panels, value, onChange }: TabPanelsProps) => (
  <Primitive.Root value={value} onValueChange={onChange}>
    <Primitive.List aria-label={label} className="flex gap-4 overflow-x-auto border-b border-line">
      {panels.map(({ id, label: text }) => (
        <Primitive.Trigger key={id} value={id} className={tab}>
          {text}
        </Primitive.Trigger>
      ))}
    </Primitive.List>
    {panels.map(({ id, content }) => (
      <Primitive.Content key={id} value={id} className="pt-3">
        {content}
      </Primitive.Content>
    ))}
  </Primitive.Root>
);
