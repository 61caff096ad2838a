import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm'

@Entity('operators')
export class Operator {
  @PrimaryGeneratedColumn()
  id: number

  @Column({ unique: true })
  code: string

  @Column()
  name: string
}
