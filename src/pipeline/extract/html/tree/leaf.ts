/** Text, or a comment, which splits the text around it. */
import { type nodeTypes, removeNode, type TreeNode, type TreeParent } from './node.ts';

const noChildren: readonly TreeNode[] = Object.freeze([]);

export class TreeLeaf {
  readonly nodeType: typeof nodeTypes.text | typeof nodeTypes.comment;
  readonly data: string;
  readonly firstChild = null;
  parentNode: TreeParent | null = null;
  previousSibling: TreeNode | null = null;
  nextSibling: TreeNode | null = null;

  constructor(nodeType: TreeLeaf['nodeType'], data: string) {
    this.nodeType = nodeType;
    this.data = data;
  }

  get textContent(): string {
    return this.data;
  }

  get childNodes(): readonly TreeNode[] {
    return noChildren;
  }

  remove(): void {
    removeNode(this);
  }
}
