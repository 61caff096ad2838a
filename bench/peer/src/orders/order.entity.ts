import {
  Column,
  CreateDateColumn,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  PrimaryGeneratedColumn,
  type Relation,
  Unique,
} from 'typeorm'
import { Tariff } from '../catalogue/tariff.entity.js'
import { Profile } from './profile.entity.js'

export enum OrderStatus {
  Reserved = 'reserved',
  Confirmed = 'confirmed',
  Cancelled = 'cancelled',
  Expired = 'expired',
}

@Entity('orders')
@Unique(['bankId', 'externalId'])
@Index(['status', 'reservedUntil'])
export class Order {
  @PrimaryGeneratedColumn('uuid')
  id: string

  @Column('uuid')
  bankId: string

  @Column({ length: 128 })
  externalId: string

  @ManyToOne(() => Tariff, { nullable: false })
  tariff: Relation<Tariff>

  @Index()
  @ManyToOne(() => Profile, { nullable: false })
  @JoinColumn()
  profile: Relation<Profile>

  @Column({ type: 'enum', enum: OrderStatus })
  status: OrderStatus

  @Column({ type: 'timestamptz' })
  reservedUntil: Date

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date

  @Column({ type: 'timestamptz', nullable: true })
  confirmedAt: Date | null
}
